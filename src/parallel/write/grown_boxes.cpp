// SPDX-License-Identifier: BSD-3-Clause
#include "parallel/write/grown_boxes.hpp"

#include "core/amr/grow.hpp"
#include "parallel/file/rows.hpp"

namespace neve::mpi {

void grow_boxes(Hierarchy& hierarchy, std::vector<LocalBox>& owned, const IntVect& ghosts) {
  for (Level& level : hierarchy.levels) amr::grow_boxes(level, ghosts);
  for (LocalBox& local : owned) {
    local.data.data = first_with_ghosts(local.data, ghosts, dtype_bytes(hierarchy.dtype));
    for (size_t d = 0; d < max_dims; ++d) local.ghosts[d] -= ghosts[d];
  }
}

}  // namespace neve::mpi
