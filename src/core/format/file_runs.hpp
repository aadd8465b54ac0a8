// SPDX-License-Identifier: BSD-3-Clause
// What two lists of boxes have in common, run by run. The boxes of a list are in file order: each begins at
// or behind the end of the one before.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>

#include "core/format/file_box.hpp"

namespace neve {

// The contiguous runs of a list of boxes, one after another. Passing over runs takes no time for them.
class RunCursor {
 public:
  explicit RunCursor(std::span<const FileBox> boxes) : boxes_(boxes) { enter(0); }

  bool is_done() const { return box_ == boxes_.size(); }
  // Of the run: its first byte in the file, that byte's number among the packed values of the list, and how
  // many bytes there are.
  uint64_t file() const { return file_; }
  uint64_t packed() const { return packed_; }
  uint64_t bytes() const { return bytes_; }
  // To the next run that ends behind byte `at` of the file, without what it has before `at`. Not backwards.
  void skip_to(uint64_t at);

 private:
  // Directions that are more than one run, slowest first.
  struct Step {
    uint64_t count, stride;
    uint64_t span;    // bytes in the file of what it repeats
    uint64_t packed;  // bytes of values of what it repeats
  };

  void enter(size_t box);
  void find(uint64_t at);

  std::span<const FileBox> boxes_;
  size_t box_ = 0;
  uint64_t before_ = 0;  // bytes of the boxes before this one, packed
  FileBox now_;          // merged
  uint64_t end_ = 0;     // of it
  uint64_t run_bytes_ = 0;
  std::array<Step, max_file_directions> steps_ = {};
  int depth_ = 0;
  uint64_t file_ = 0, packed_ = 0, bytes_ = 0;
};

// Calls visit(byte among the packed values of `a`, of `b`, bytes) for what both hold, in file order.
template <class Visit>
void visit_common(std::span<const FileBox> a, std::span<const FileBox> b, const Visit& visit) {
  RunCursor left(a), right(b);
  while (!left.is_done() && !right.is_done()) {
    const uint64_t begin = std::max(left.file(), right.file());
    left.skip_to(begin);
    right.skip_to(begin);
    if (left.is_done() || right.is_done()) return;
    if (left.file() != begin || right.file() != begin) continue;
    const uint64_t bytes = std::min(left.bytes(), right.bytes());
    visit(left.packed(), right.packed(), bytes);
    left.skip_to(begin + bytes);
    right.skip_to(begin + bytes);
  }
}

// Whether some byte is in both. Boxes with the same strides, as the parts of an array have, are compared
// without a look at their runs.
bool meet(const FileBox& a, const FileBox& b);
bool meet(std::span<const FileBox> a, std::span<const FileBox> b);

}  // namespace neve
