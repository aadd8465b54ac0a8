// SPDX-License-Identifier: BSD-3-Clause
// What this rank alone has written into a file of frames that frames cannot hold, until a collective call can
// make the file a plain one.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/bits/bytes.hpp"
#include "neve/status.hpp"

namespace neve::pmpi {

class Journal {
 public:
  // The bytes lie in a file without a name in the folder of `path`: they may be more than fit into memory.
  explicit Journal(std::string path) : path_(std::move(path)) {}
  ~Journal();
  Journal(const Journal&) = delete;
  Journal& operator=(const Journal&) = delete;

  bool is_empty() const { return entries_.empty(); }
  // One more than the last byte written.
  uint64_t end() const { return end_; }

  Status write(uint64_t at, ByteSpan bytes);
  // Puts what was written there over `out`, which is bytes `at` and on of the file.
  Status overlay(uint64_t at, std::span<std::byte> out) const;
  // Writes all of it into an open file, in the order in which it was written.
  Status replay(int descriptor, const std::string& name) const;
  void clear();

 private:
  struct Entry {
    uint64_t at;  // in the program's file
    uint64_t bytes;
    uint64_t stored;  // where in the journal's
  };
  Status read(uint64_t stored, std::span<std::byte> out) const;

  std::string path_;
  int descriptor_ = -1;
  uint64_t stored_ = 0, end_ = 0;
  std::vector<Entry> entries_;
};

}  // namespace neve::pmpi
