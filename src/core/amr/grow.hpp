// SPDX-License-Identifier: BSD-3-Clause
// Boxes with layers of ghost cells around them are larger boxes; and back.
#pragma once

#include "neve/box.hpp"
#include "neve/hierarchy.hpp"

namespace neve::amr {

inline constexpr IntVect no_ghosts{0, 0, 0};

inline Box grow(Box box, const IntVect& layers) {
  for (size_t d = 0; d < max_dims; ++d) {
    box.lo[d] -= layers[d];
    box.hi[d] += layers[d];
  }
  return box;
}

inline Box shrink(const Box& box, const IntVect& layers) {
  return grow(box, {-layers[0], -layers[1], -layers[2]});
}

inline void grow_boxes(Level& level, const IntVect& layers) {
  for (Box& box : level.boxes) box = grow(box, layers);
}

inline void shrink_boxes(Level& level, const IntVect& layers) {
  for (Box& box : level.boxes) box = shrink(box, layers);
}

}  // namespace neve::amr
