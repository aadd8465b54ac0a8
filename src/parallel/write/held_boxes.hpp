// SPDX-License-Identifier: BSD-3-Clause
// All of a rank's boxes out of a source, in memory: for ways of writing that need them at once.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "neve/hierarchy.hpp"
#include "neve/plotfile_writer.hpp"
#include "parallel/comm/agree.hpp"
#include "parallel/write/local_values.hpp"

namespace neve::mpi {

struct HeldBoxes {
  std::vector<std::unique_ptr<std::byte[]>> storage;  // by box; components one after another
  std::vector<LocalBox> boxes;
};

// Collective. `values`: to be read, of boxes that have `ghosts` in them, as those of `stored`.
Result<HeldBoxes> hold_all(const Comm& comm, const LocalValues& values, const Hierarchy& stored,
                           const IntVect& ghosts);

}  // namespace neve::mpi
