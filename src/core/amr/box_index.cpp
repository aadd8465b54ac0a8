// SPDX-License-Identifier: BSD-3-Clause
#include "core/amr/box_index.hpp"

#include <algorithm>
#include <array>

#include "core/amr/morton.hpp"

namespace neve::amr {
namespace {

constexpr size_t fan_out = 8;

Box bounding(const Box& a, const Box& b) {
  Box r;
  for (int d = 0; d < max_dims; ++d) {
    r.lo[d] = std::min(a.lo[d], b.lo[d]);
    r.hi[d] = std::max(a.hi[d], b.hi[d]);
  }
  return r;
}

}  // namespace

BoxIndex::BoxIndex(std::span<const Box> boxes)
    : boxes_(boxes.begin(), boxes.end()), order_(morton_order(boxes)) {
  if (boxes_.empty()) return;
  std::vector<Box> below;
  below.reserve(order_.size());
  for (int i : order_) below.push_back(box(i));
  do {
    std::vector<Box> level;
    level.reserve((below.size() + fan_out - 1) / fan_out);
    for (size_t i = 0; i < below.size(); i += fan_out) {
      Box b = below[i];
      for (size_t j = i + 1; j < std::min(i + fan_out, below.size()); ++j) b = bounding(b, below[j]);
      level.push_back(b);
    }
    bounds_.push_back(level);
    below = std::move(level);
  } while (below.size() > 1);
}

// Calls stop_at(box index) for each box that meets `region` until it returns true; says whether it did.
template <class Visit>
bool BoxIndex::visit(const Box& region, Visit&& stop_at) const {
  if (boxes_.empty() || region.empty()) return false;
  struct Node {
    size_t level;
    size_t index;
  };
  std::vector<Node> stack{{bounds_.size() - 1, 0}};
  while (!stack.empty()) {
    const Node node = stack.back();
    stack.pop_back();
    if (intersect(bounds_[node.level][node.index], region).empty()) continue;
    const size_t begin = node.index * fan_out;
    const size_t below = node.level == 0 ? order_.size() : bounds_[node.level - 1].size();
    const size_t end = std::min(begin + fan_out, below);
    for (size_t i = begin; i < end; ++i) {
      if (node.level > 0) {
        stack.push_back({node.level - 1, i});
      } else if (!intersect(box(order_[i]), region).empty() && stop_at(order_[i])) {
        return true;
      }
    }
  }
  return false;
}

std::vector<int> BoxIndex::intersecting(const Box& region) const {
  std::vector<int> found;
  visit(region, [&](int i) {
    found.push_back(i);
    return false;
  });
  std::sort(found.begin(), found.end());
  return found;
}

BoxIndex::Pair BoxIndex::find_overlap() const {
  for (int i = 0; i < static_cast<int>(boxes_.size()); ++i) {
    int other = -1;
    if (visit(box(i), [&](int j) {
          other = j;
          return j != i;
        })) {
      return {std::min(i, other), std::max(i, other)};
    }
  }
  return {};
}

}  // namespace neve::amr
