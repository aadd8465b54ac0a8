// SPDX-License-Identifier: BSD-3-Clause
// One write of the benchmark's file by one of the ways.
#pragma once

#include <cstdint>
#include <string>

#include "bench/apps/chombo/contents.hpp"
#include "bench/apps/chombo/way.hpp"
#include "bench/harness/covered.hpp"
#include "neve/file_layout.hpp"
#include "neve/plotfile_writer.hpp"
#include "neve/status.hpp"
#include "parallel/comm/agree.hpp"
#include "parallel/file/write_pieces.hpp"

namespace neve::chombo {

struct WriteCase {
  bool compress_ghosts = false;  // the compressed way keeps the ghosts, too
  Bound bound;
  Effort effort = Effort::fast;
  Covered covered = bench_covered;  // of compressed plot files
  FileLayout layout;
  std::string stage;  // WriteOptions::stage of the compressed way; empty: none
};

// The same on all ranks.
struct WayReport {
  WriteReport write;
  // Of the rank with the largest: of the buffers into which the way itself copies boxes.
  uint64_t peak_buffer_bytes = 0;
};

// The MPI-IO hints that the way asks for.
Result<mpi::Hints> hints_of_way(const Way& way, const FileLayout& layout);

// The layers of ghosts in the file, where `held` are in memory: frames have them only where asked for.
IntVect ghosts_in_file(const Way& way, const WriteCase& how, const IntVect& held);

// Collective; all ranks return the same error. Writes under a temporary name, makes the file durable and
// gives it its name; where that fails nothing is left.
Result<WayReport> write_way(const mpi::Comm& comm, const Way& way, const Contents& contents,
                            const WriteCase& how, const std::string& path);

}  // namespace neve::chombo
