// SPDX-License-Identifier: BSD-3-Clause
// What a rank sends itself.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace neve::mpi {

// Copies it a piece at a time, in the waits for what other ranks send. Not thread-safe; the memory, which
// does not overlap, must outlive this.
class OwnCopy {
 public:
  OwnCopy() = default;
  OwnCopy(const void* from, void* to, uint64_t bytes)
      : from_(static_cast<const std::byte*>(from)),
        to_(static_cast<std::byte*>(to)),
        left_(from == to ? 0 : bytes) {}

  // Whether there was anything left.
  bool copy_some() {
    constexpr uint64_t piece_bytes = uint64_t{1} << 18;  // some 50 microseconds
    const uint64_t bytes = std::min(left_, piece_bytes);
    if (bytes == 0) return false;
    std::memcpy(to_, from_, bytes);
    from_ += bytes;
    to_ += bytes;
    left_ -= bytes;
    return true;
  }
  void copy_rest() {
    while (copy_some()) {
    }
  }

 private:
  const std::byte* from_ = nullptr;
  std::byte* to_ = nullptr;
  uint64_t left_ = 0;
};

}  // namespace neve::mpi
