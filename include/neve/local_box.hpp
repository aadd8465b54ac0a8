// SPDX-License-Identifier: BSD-3-Clause
// Values of a hierarchy's box in memory.
#pragma once

#include "neve/box.hpp"
#include "neve/frame.hpp"

namespace neve {

// A box this rank owns. Every box of the hierarchy is owned by exactly one rank; a rank may own none.
struct LocalBox {
  int level = 0;
  int box = 0;  // index into hierarchy.levels[level].boxes
  // Of type hierarchy.dtype, from the first valid cell on; stays the caller's, and so do component_offsets,
  // where components were allocated apart.
  BoxData data;
  // Layers of ghost cells in `data` around the valid cells. BoxData::data still points at the first valid
  // cell.
  IntVect ghosts{0, 0, 0};
};

}  // namespace neve
