// SPDX-License-Identifier: BSD-3-Clause
// Which pieces of a frame file hold some of its bytes.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/format/frame_file.hpp"

namespace neve {

// Whether the piece holds any byte of the boxes, which are in file order.
bool holds_any(const FramePiece& piece, std::span<const FileBox> boxes);

class PieceFinder {
 public:
  PieceFinder() = default;
  explicit PieceFinder(std::span<const FramePiece> pieces);

  // Numbers of those of the same pieces that hold any byte of the boxes, which are in file order, ascending:
  // that in which they count. Looks at those alone that begin before the boxes' end, and behind the first
  // that reaches to their beginning.
  std::vector<size_t> find(std::span<const FramePiece> pieces, std::span<const FileBox> boxes) const;

 private:
  std::vector<size_t> by_first_;
  std::vector<uint64_t> furthest_end_;  // of by_first_, up to each
};

}  // namespace neve
