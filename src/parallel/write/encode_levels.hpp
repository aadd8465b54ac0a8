// SPDX-License-Identifier: BSD-3-Clause
// From a plan to frames: what each level leaves out is settled, and the level encoded, from the finest to the
// coarsest.
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

struct EncodedLevels {
  std::vector<EncodedChunk> chunks;  // this rank's, by level, then chunk
  double coverage_seconds = 0;
  double encode_seconds = 0;
};

// Collective. Settles the covered cells of `plan` on the way. Levels whose frames no coarser level waits for
// are encoded together, so that ranks meet no more often than they must.
Result<EncodedLevels> encode_levels(const Comm& comm, const Hierarchy& hierarchy, const LocalValues& owned,
                                    const WriteOptions& options, WritePlan& plan,
                                    const std::function<void(const char* phase, double fraction)>& progress,
                                    const PassingBy& passing = {});

}  // namespace neve::mpi
