// SPDX-License-Identifier: BSD-3-Clause
// Which cells of a coarse box a finer level covers.
#pragma once

#include <vector>

#include "core/amr/box_index.hpp"
#include "neve/box.hpp"
#include "neve/frame.hpp"

namespace neve::amr {

// A coarse cell is covered when ONE finer box holds all of its fine cells. A cell whose fine cells are shared
// by several boxes, which happens only where boxes are not aligned to the ratio, counts as uncovered: that
// costs its bits but never a value, and lets every covered cell be averaged from a single box.

// The covered coarse cells that one finer box accounts for.
struct CoveredPart {
  Box cells;         // in the coarse level's index space, inside the coarse box
  int fine_box = 0;  // index in the finer level
};

// The coarse cells all of whose fine cells lie in `fine`; may be empty.
Box fully_covered(const Box& fine, const IntVect& ratio);

// Parts of different finer boxes are disjoint because the boxes are. Ascending by fine_box.
std::vector<CoveredPart> covered_parts(const Box& coarse, const BoxIndex& finer, const IntVect& ratio);

// The same cells as few disjoint rectangles relative to the coarse box; the answer depends only on the box
// lists, so that every rank and reader finds the same.
std::vector<Rect> covered_rects(const Box& coarse, const BoxIndex& finer, const IntVect& ratio);

}  // namespace neve::amr
