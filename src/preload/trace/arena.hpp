// SPDX-License-Identifier: BSD-3-Clause
// The memory of a process's part: address space reserved once, a file mapped shared into it as it fills. It
// calls the kernel directly, so that nothing in here comes back to the wrappers.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>

namespace neve::trace {

class Arena {
 public:
  bool is_open() const { return base_ != nullptr; }

  // Creates the part file `folder`/<host>.<process>.<random>.part. Where that cannot be, says so on stderr
  // and keeps the counts in plain memory. False when there is not even that.
  bool open(const char* folder, const char* host, uint64_t limit_bytes);

  // Offset of zeroed memory, aligned to 8; 0 when the limit is reached.
  uint32_t allocate(size_t bytes);

  template <class T>
  T* at(uint32_t offset) const {
    return reinterpret_cast<T*>(base_ + offset);
  }
  template <class T>
  T* make(uint32_t& offset) {
    offset = allocate(sizeof(T));
    return offset == 0 ? nullptr : at<T>(offset);
  }

  uint64_t used_bytes() const { return used_bytes_; }
  const std::byte* bytes() const { return base_; }

  const char* path() const { return in_file_ ? path_ : ""; }

  // Forgets the memory; the file stays. A child after fork must not write into its parent's.
  void leave();

 private:
  bool make_file(const char* folder, const char* host);
  long open_again() const;
  bool grow(uint64_t to_bytes);

  std::byte* base_ = nullptr;
  uint64_t limit_bytes_ = 0, mapped_bytes_ = 0, used_bytes_ = 0;
  bool in_file_ = false;
  char path_[4608] = {};
  dev_t device_ = 0;  // of the file at that path
  ino_t number_ = 0;
};

}  // namespace neve::trace
