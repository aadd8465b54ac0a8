// SPDX-License-Identifier: BSD-3-Clause
#include "core/stages/predict/stencil.hpp"

#include <cstdlib>

namespace neve {

namespace {

constexpr int axis_reach = 3;
constexpr int other_class_reach_squared = 2;
constexpr int own_class_reach_squared = 4;

int place_in_order(int of_class) {
  for (size_t i = 0; i < class_order.size(); ++i) {
    if (class_order[i] == of_class) return static_cast<int>(i) + 1;
  }
  return 0;
}

bool is_tap(int of_class, int from_class, int dx, int dy, int dz) {
  const int squared = dx * dx + dy * dy + dz * dz;
  if (squared == 0) return false;
  if (from_class == of_class) return (dz < 0 || (dz == 0 && dy < 0)) && squared <= own_class_reach_squared;
  if (place_in_order(from_class) > place_in_order(of_class)) return false;
  const bool on_axis = (dx != 0) + (dy != 0) + (dz != 0) == 1;
  return on_axis || squared <= other_class_reach_squared;
}

}  // namespace

std::vector<Tap> stencil_taps(int of_class, int live) {
  std::vector<Tap> taps;
  const auto reach = [live](int d) { return ((live >> d) & 1) != 0 ? axis_reach : 0; };
  for (int dz = -reach(2); dz <= reach(2); ++dz) {
    for (int dy = -reach(1); dy <= reach(1); ++dy) {
      for (int dx = -reach(0); dx <= reach(0); ++dx) {
        const std::array<int, 3> offset{dx, dy, dz};
        int from_class = of_class;
        for (int d = 0; d < 3; ++d) {
          if ((offset[static_cast<size_t>(d)] & 1) != 0) from_class ^= 1 << d;
        }
        if (!is_tap(of_class, from_class, dx, dy, dz)) continue;
        Tap tap{from_class, {}};
        for (int d = 0; d < 3; ++d) {
          // Coordinates are 2 index + bit of the class, in units of s.
          tap.shift[static_cast<size_t>(d)] =
              (((of_class >> d) & 1) + offset[static_cast<size_t>(d)] - ((from_class >> d) & 1)) / 2;
        }
        taps.push_back(tap);
      }
    }
  }
  return taps;
}

}  // namespace neve
