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
#include "parallel/write/coverage_check.hpp"
#include "parallel/write/encode_chunks.hpp"
#include "parallel/write/plan.hpp"

namespace neve::mpi {

struct EncodedLevels {
  std::vector<EncodedChunk> chunks;  // this rank's, by level, then chunk
  double coverage_seconds = 0;
  double encode_seconds = 0;
};

// progress(phase, fraction), called on the calling thread.
using ShowEncoding = std::function<void(const char* phase, double fraction)>;

// Whether the values decide which covered cells are left out, where there are any.
bool settles_by_values(const WriteOptions& options, const WritePlan& plan);

// Collective. Settles the covered cells of `plan` on the way: by `check`, where the values decide; null: as
// asked for. Ranks meet where there is a check, once for each level that has covered cells, and with
// cross_level; else not at all. `mine`: what has become of this rank's work before, afterwards of all its
// work since the ranks met last: the caller's next exchange has to agree on it. Without an error in `mine`,
// `result` is whole.
Status encode_levels(const Comm& comm, const Hierarchy& hierarchy, const LocalValues& owned,
                     const WriteOptions& options, WritePlan& plan, CoverageCheck* check,
                     const ShowEncoding& progress, EncodedLevels& result, Status& mine,
                     const PassingBy& passing = {});

}  // namespace neve::mpi
