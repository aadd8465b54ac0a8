// SPDX-License-Identifier: BSD-3-Clause
// Morton (Z) order of boxes, and the sharing of boxes among ranks along it.
#pragma once

#include <span>
#include <vector>

#include "neve/box.hpp"
#include "neve/hierarchy.hpp"

namespace neve::amr {

// Indices of the boxes, sorted by the Morton code of their low corners (relative to the lowest corner of
// all); boxes with the same corner keep their order. Neighbours in the list are mostly neighbours in space.
std::vector<int> morton_order(std::span<const Box> boxes);

// The same relative to `origin`, at or below all low corners: Chombo counts from the domain's corner.
std::vector<int> morton_order(std::span<const Box> boxes, const IntVect& origin);

// Owner of each box, owner[level][box]: on every level contiguous runs of the boxes in Morton order, cut
// where they share the level's cells best. The same answer on every rank; a rank may own nothing. `ranks`
// must be at least 1.
std::vector<std::vector<int>> distribute(const Hierarchy& hierarchy, int ranks);

}  // namespace neve::amr
