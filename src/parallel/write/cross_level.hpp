// SPDX-License-Identifier: BSD-3-Clause
// Levels coded once more, each with what the next coarser one decodes to.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "neve/hierarchy.hpp"
#include "neve/plotfile_writer.hpp"
#include "parallel/comm/agree.hpp"
#include "parallel/write/encode_chunks.hpp"
#include "parallel/write/plan.hpp"

namespace neve::mpi {

// Collective. `plan` is settled, and `chunks` are this rank's frames of all levels, coded one by one; both
// become what is smaller. A field may lean on a coarser level that keeps all its covered cells: what a level
// leaves out depends on what readers get for the finer one, so that must not depend on it in turn. Where
// covered cells were only found to be dispensable (Covered::automatic), the field keeps them instead if that
// is smaller in all. `progress`: how much of all passes that may be needed is done.
Status predict_across_levels(const Comm& comm, const Hierarchy& hierarchy, const LocalValues& owned,
                             const WriteOptions& options, const MissedCells& missed, WritePlan& plan,
                             std::vector<EncodedChunk>& chunks,
                             const std::function<void(double fraction)>& progress);

}  // namespace neve::mpi
