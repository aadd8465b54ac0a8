// SPDX-License-Identifier: BSD-3-Clause
// To who encodes a box, its ghost cells are cells as any others.
#pragma once

#include <vector>

#include "neve/hierarchy.hpp"
#include "neve/plotfile_writer.hpp"

namespace neve::mpi {

// The boxes of `hierarchy`, and the rank's own with their data, with `ghosts` layers in them. The owned boxes
// must hold as many.
void grow_boxes(Hierarchy& hierarchy, std::vector<LocalBox>& owned, const IntVect& ghosts);

}  // namespace neve::mpi
