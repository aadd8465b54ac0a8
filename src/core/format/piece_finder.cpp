// SPDX-License-Identifier: BSD-3-Clause
#include "core/format/piece_finder.hpp"

#include <algorithm>
#include <numeric>

#include "core/format/file_runs.hpp"

namespace neve {

bool holds_any(const FramePiece& piece, std::span<const FileBox> boxes) {
  if (boxes.empty() || piece.place.first() >= boxes.back().end() ||
      piece.place.end() <= boxes.front().first) {
    return false;
  }
  // Each of them has bytes between its ends, and all of those are in the other.
  if (piece.place.is_contiguous() && boxes.size() == 1 && boxes[0].is_contiguous()) return true;
  return meet(piece.place.unpacked(), boxes);
}

PieceFinder::PieceFinder(std::span<const FramePiece> pieces) : by_first_(pieces.size()) {
  std::iota(by_first_.begin(), by_first_.end(), size_t{0});
  std::ranges::sort(by_first_, {}, [&](size_t i) { return pieces[i].place.first(); });
  furthest_end_.reserve(pieces.size());
  uint64_t furthest = 0;
  for (const size_t i : by_first_) {
    furthest = std::max(furthest, pieces[i].place.end());
    furthest_end_.push_back(furthest);
  }
}

std::vector<size_t> PieceFinder::find(std::span<const FramePiece> pieces,
                                      std::span<const FileBox> boxes) const {
  std::vector<size_t> found;
  if (boxes.empty()) return found;
  const auto begin = std::ranges::upper_bound(furthest_end_, boxes.front().first) - furthest_end_.begin();
  for (size_t n = static_cast<size_t>(begin); n < by_first_.size(); ++n) {
    const FramePiece& piece = pieces[by_first_[n]];
    if (piece.place.first() >= boxes.back().end()) break;
    if (holds_any(piece, boxes)) found.push_back(by_first_[n]);
  }
  std::ranges::sort(found);
  return found;
}

}  // namespace neve
