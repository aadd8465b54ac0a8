// SPDX-License-Identifier: BSD-3-Clause
// Which boxes of a level meet a given box, without looking at all of them.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "neve/box.hpp"

namespace neve::amr {

// A packed tree of bounding boxes over the boxes in Morton order. A tree rather than a grid of buckets,
// because one far-away or one huge box among many small ones would put all of them into one bucket, or one of
// them into all buckets; files decide what the boxes are.
class BoxIndex {
 public:
  BoxIndex() = default;
  // Copies the boxes: the index does not depend on the caller's list.
  explicit BoxIndex(std::span<const Box> boxes);

  size_t size() const { return boxes_.size(); }
  const Box& box(int i) const { return boxes_[static_cast<size_t>(i)]; }

  // Indices of the boxes that share a cell with `region`, ascending.
  std::vector<int> intersecting(const Box& region) const;

  // The first two boxes found that share a cell, or {-1, -1}.
  struct Pair {
    int first = -1;
    int second = -1;
  };
  Pair find_overlap() const;

 private:
  template <class Visit>
  bool visit(const Box& region, Visit&& stop_at) const;

  std::vector<Box> boxes_;
  std::vector<int> order_;                // leaves: positions in Morton order -> box
  std::vector<std::vector<Box>> bounds_;  // bounds_[0][i]: of leaves i*fan_out...; last has one entry
};

}  // namespace neve::amr
