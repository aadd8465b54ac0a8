// SPDX-License-Identifier: BSD-3-Clause
// This rank's chunks as frames.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include "mpi/coverage_check.hpp"
#include "mpi/plan.hpp"
#include "neve/frame.hpp"
#include "neve/hierarchy.hpp"
#include "neve/plotfile_writer.hpp"

namespace neve::mpi {

struct EncodedChunk {
  size_t level = 0;
  size_t chunk = 0;  // index in LevelPlan::chunks
  std::vector<std::byte> frame;
  FrameReport report;
};

// Not collective. By level, then chunk. The frames do not depend on the number of threads; beside them only
// what the threads are working on is held.
Result<std::vector<EncodedChunk>> encode_chunks(int rank, const Hierarchy& hierarchy,
                                                std::span<const LocalBox> owned, const WriteOptions& options,
                                                const WritePlan& plan, const MissedCells& missed,
                                                const std::function<void(double fraction)>& progress);

}  // namespace neve::mpi
