// SPDX-License-Identifier: BSD-3-Clause
// What was written, added up over chunks and ranks.
#pragma once

#include <span>

#include "neve/hierarchy.hpp"
#include "neve/plotfile_writer.hpp"
#include "parallel/comm/agree.hpp"
#include "parallel/write/encode_chunks.hpp"
#include "parallel/write/plan.hpp"

namespace neve::mpi {

// Collective; the same on every rank. All of the report but file_bytes and the times. `explain`: with what
// was weighed.
Result<WriteReport> merge_reports(const Comm& comm, const Hierarchy& hierarchy, const WritePlan& plan,
                                  std::span<const EncodedChunk> chunks, bool explain);

}  // namespace neve::mpi
