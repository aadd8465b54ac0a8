// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

#include "neve/hierarchy.hpp"

namespace neve {

void sort_boxes_as_chombo(Hierarchy& h) {
  for (Level& level : h.levels) {
    std::sort(level.boxes.begin(), level.boxes.end(),
              [](const Box& a, const Box& b) { return a.lo != b.lo ? a.lo < b.lo : a.hi < b.hi; });
  }
}

}  // namespace neve
