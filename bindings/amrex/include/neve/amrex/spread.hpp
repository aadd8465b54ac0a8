// SPDX-License-Identifier: BSD-3-Clause
// Boxes that share nodes, or are stored with their ghost cells, overlap; the boxes of a Neve level must not.
// Here they are moved apart without losing their neighbourhood.
//
// Let m be the least size in cells of the level's boxes in a direction, and s = 2 ghosts + (1 if on nodes)
// how far a stored box reaches beyond its cells there. The box that begins at cell `lo` is stored beginning
// at
//     lo + s floor(lo / m).
// Two boxes of the level do not share cells, so in some direction one begins at least m cells after the
// other's beginning, at its end or later; there floor(lo / m) is larger by at least 1, and the stored boxes
// are at least s further apart than the cells. The place is undone exactly: with q = floor(place / (m + s)),
// lo = place - s q.
#pragma once

#include <AMReX_BoxArray.H>
#include <AMReX_MultiFab.H>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "neve/amrex/view.hpp"
#include "neve/box.hpp"

namespace neve::amrex {

struct Spread {
  IntVect reach{0, 0, 0};  // s
  IntVect unit{1, 1, 1};   // m

  Box place(const Box& cells) const {
    Box stored;
    for (size_t d = 0; d < max_dims; ++d) {
      const int64_t lo = cells.lo[d] + int64_t{reach[d]} * floor_div(cells.lo[d], unit[d]);
      stored.lo[d] = saturated(lo);
      stored.hi[d] = saturated(lo + cells.size(static_cast<int>(d)) - 1 + reach[d]);
    }
    return stored;
  }

  Box cells(const Box& stored) const {
    Box cells;
    for (size_t d = 0; d < max_dims; ++d) {
      cells.lo[d] = stored.lo[d] - reach[d] * floor_div(stored.lo[d], unit[d] + reach[d]);
      cells.hi[d] = cells.lo[d] + static_cast<int32_t>(stored.size(static_cast<int>(d))) - 1 - reach[d];
    }
    return cells;
  }

 private:
  // What does not fit lies beyond the indices that check_hierarchy allows, and is refused there.
  static int32_t saturated(int64_t index) {
    constexpr int64_t most = std::numeric_limits<int32_t>::max();
    return static_cast<int32_t>(std::clamp(index, -most, most));
  }
};

// The smallest box around both.
inline Box hull(const Box& a, const Box& b) {
  Box r;
  for (size_t d = 0; d < max_dims; ++d) {
    r.lo[d] = std::min(a.lo[d], b.lo[d]);
    r.hi[d] = std::max(a.hi[d], b.hi[d]);
  }
  return r;
}

// The cells that the boxes of a MultiFab of any centring belong to.
inline std::vector<Box> cell_boxes(const ::amrex::BoxArray& boxes) {
  std::vector<Box> cells;
  for (int b = 0; b < boxes.size(); ++b) cells.push_back(to_neve(::amrex::enclosedCells(boxes[b])));
  return cells;
}

inline Spread spread_of(const std::vector<Box>& cells, const ::amrex::IndexType& centring,
                        const ::amrex::IntVect& ghosts) {
  Spread spread;
  for (int d = 0; d < AMREX_SPACEDIM; ++d) {
    const auto i = static_cast<size_t>(d);
    spread.reach[i] = 2 * ghosts[d] + (centring.nodeCentered(d) ? 1 : 0);
    int64_t least = cells.front().size(d);
    for (const Box& box : cells) least = std::min(least, box.size(d));
    spread.unit[i] = static_cast<int32_t>(least);
  }
  return spread;
}

}  // namespace neve::amrex
