// SPDX-License-Identifier: BSD-3-Clause
#include "tools/neve/pairing.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <utility>

namespace neve::cli {
namespace {

using Corners = std::pair<IntVect, IntVect>;

std::string text(const Box& b) {
  return fmt::format("({},{},{})..({},{},{})", b.lo[0], b.lo[1], b.lo[2], b.hi[0], b.hi[1], b.hi[2]);
}

Result<std::vector<int>> pair_boxes(size_t level, const Level& original, const Level& copy) {
  if (original.boxes.size() != copy.boxes.size()) {
    return failure(fmt::format("not comparable: level {} has {} boxes in the original and {} in the copy",
                               level, original.boxes.size(), copy.boxes.size()));
  }
  std::map<Corners, int> place;
  for (size_t i = 0; i < copy.boxes.size(); ++i)
    place[{copy.boxes[i].lo, copy.boxes[i].hi}] = static_cast<int>(i);
  std::vector<int> paired;
  for (const Box& box : original.boxes) {
    const auto found = place.find({box.lo, box.hi});
    if (found == place.end()) {
      return failure(fmt::format("not comparable: box {} of level {} of the original is not in the copy",
                                 text(box), level));
    }
    paired.push_back(found->second);
  }
  return paired;
}

}  // namespace

Result<Pairing> pair_up(const Hierarchy& original, const Hierarchy& copy) {
  if (original.dtype != copy.dtype) {
    return failure(fmt::format("not comparable: the original holds {} values and the copy {}",
                               dtype_name(original.dtype), dtype_name(copy.dtype)));
  }
  if (original.levels.size() != copy.levels.size()) {
    return failure(fmt::format("not comparable: the original has {} levels and the copy {}",
                               original.levels.size(), copy.levels.size()));
  }
  Pairing pairing;
  for (const std::string& name : original.components) {
    const auto found = std::find(copy.components.begin(), copy.components.end(), name);
    if (found == copy.components.end()) {
      return failure(fmt::format("not comparable: the copy has no field '{}'; it has: {}", name,
                                 fmt::join(copy.components, ", ")));
    }
    pairing.component.push_back(static_cast<int>(found - copy.components.begin()));
  }
  for (size_t level = 0; level < original.levels.size(); ++level) {
    NEVE_ASSIGN(auto boxes, pair_boxes(level, original.levels[level], copy.levels[level]));
    pairing.box.push_back(std::move(boxes));
  }
  return pairing;
}

}  // namespace neve::cli
