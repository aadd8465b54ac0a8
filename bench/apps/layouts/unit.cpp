// SPDX-License-Identifier: BSD-3-Clause
#include "bench/apps/layouts/unit.hpp"

#include <algorithm>
#include <iterator>

#include "bench/apps/layouts/input.hpp"
#include "core/catalog/choices.hpp"

namespace neve::layouts {
namespace {

bool fits(const FrameBox& box, int dims, int64_t unit) {
  const auto is_whole = [&](const Extents& numbers) {
    return std::all_of(numbers.begin(), numbers.begin() + dims, [&](int64_t n) { return n % unit == 0; });
  };
  return is_whole(box.size) && std::all_of(box.covered.begin(), box.covered.end(), [&](const Rect& rect) {
           return is_whole(rect.lo) && is_whole(rect.size);
         });
}

bool fits_everywhere(const Hierarchy& hierarchy, int64_t unit) {
  for (size_t level = 0; level < hierarchy.levels.size(); ++level) {
    const Level& of = hierarchy.levels[level];
    const amr::BoxIndex finer = finer_index(hierarchy, level);
    for (const Box& box : of.boxes) {
      const FrameBox with_covered =
          amr::frame_box(box, {0, 0, 0}, of.ref_ratio, finer.size() > 0 ? &finer : nullptr);
      if (!fits(with_covered, hierarchy.dims, unit)) return false;
    }
  }
  return true;
}

}  // namespace

int fitting_unit(const Hierarchy& hierarchy) {
  const auto found = std::find_if(std::rbegin(unit_sides), std::rend(unit_sides),
                                  [&](int unit) { return fits_everywhere(hierarchy, unit); });
  return found == std::rend(unit_sides) ? unit_sides[0] : *found;
}

}  // namespace neve::layouts
