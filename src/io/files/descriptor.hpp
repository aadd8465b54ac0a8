// SPDX-License-Identifier: BSD-3-Clause
// An open file or folder, closed with its owner.
#pragma once

#include <string>
#include <utility>

#include "neve/status.hpp"

namespace neve::files {

class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept;
  ~Descriptor();

  int number() const { return number_; }
  bool is_open() const { return number_ >= 0; }
  // What a file system found out late (a quota, NFS) is told by the close. `name` is for the message.
  Status close(const std::string& name);

 private:
  int number_ = -1;
};

// "WHAT: the system's reason" of errno.
Status system_failure(const std::string& what);

}  // namespace neve::files
