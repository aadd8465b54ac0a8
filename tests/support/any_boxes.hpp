// SPDX-License-Identifier: BSD-3-Clause
// Boxes of values in a file, at random, and the bytes that they are.
#pragma once

#include <cstdint>
#include <random>
#include <utility>
#include <vector>

#include "core/format/file_box.hpp"

namespace neve::test {

class AnyBoxes {
 public:
  explicit AnyBoxes(uint64_t seed) : random_(seed) {}

  uint64_t upto(uint64_t most) { return std::uniform_int_distribution<uint64_t>(0, most)(random_); }

  // Contiguous in some of its directions more often than not.
  FileBox box(uint64_t from, uint32_t value_bytes) {
    FileBox box{from + upto(20), value_bytes, static_cast<int>(upto(4)), {}};
    uint64_t span = box.value_bytes;
    for (int d = box.ndim - 1; d >= 0; --d) {
      box.directions[d] = {1 + upto(4), span + (upto(1) == 0 ? 0 : upto(9))};
      span += (box.directions[d].count - 1) * box.directions[d].stride;
    }
    return box;
  }
  FileBox box() { return box(0, static_cast<uint32_t>(1 + upto(8))); }

  // One box to `most`, each behind the one before.
  std::vector<FileBox> list(uint64_t most, uint32_t value_bytes = 0) {
    std::vector<FileBox> boxes;
    for (uint64_t n = 1 + upto(most - 1); n > 0; --n) {
      const uint64_t from = boxes.empty() ? 0 : boxes.back().end();
      boxes.push_back(box(from, value_bytes != 0 ? value_bytes : static_cast<uint32_t>(1 + upto(8))));
    }
    return boxes;
  }

 private:
  std::mt19937_64 random_;
};

namespace detail {

inline void append_file_bytes(const FileBox& box, int d, uint64_t first, std::vector<uint64_t>& out) {
  if (d == box.ndim) {
    for (uint64_t b = 0; b < box.value_bytes; ++b) out.push_back(first + b);
    return;
  }
  for (uint64_t i = 0; i < box.directions[d].count; ++i) {
    append_file_bytes(box, d + 1, first + i * box.directions[d].stride, out);
  }
}

}  // namespace detail

// Where each byte of the packed values lies.
inline std::vector<uint64_t> file_bytes_of(const std::vector<FileBox>& boxes) {
  std::vector<uint64_t> bytes;
  for (const FileBox& box : boxes) detail::append_file_bytes(box, 0, box.first, bytes);
  return bytes;
}

}  // namespace neve::test
