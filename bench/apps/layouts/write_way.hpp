// SPDX-License-Identifier: BSD-3-Clause
// One write of the values in memory, by one of the ways.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bench/apps/layouts/bounds.hpp"
#include "bench/apps/layouts/input.hpp"
#include "bench/apps/layouts/prepared.hpp"
#include "bench/apps/layouts/way.hpp"

namespace neve::layouts {

// Of the slowest rank each, but for the last. What is left of a write's time is HDF5's, MPI-IO's, and waiting
// for other ranks.
struct Stages {
  double prepare = 0;  // value ranges, covered cells, places, padding, copies into buffers
  double encode = 0;
  double sync = 0;  // making the file durable, and of plotfiles giving it its name
  double call = 0;  // what the simulation waits for
};

struct Written {
  Stages seconds;
  std::vector<std::string> datasets;  // of values, by their paths in the file
  uint64_t filter_calls = 0;          // of all ranks, for chunks of values
  Bounds bounds;
  bool is_plotfile = false;
  std::vector<StoredRun> runs;  // of this rank, unless it is a plotfile
};

struct WriteCase {
  Bound bound;
  int unit_cells = 0;  // of AMRIC's unit blocks
};

// Collective; all ranks return the same error. The file is durable.
Result<Written> write_way(const mpi::Comm& comm, const Way& way, const Input& input, const WriteCase& how,
                          const std::string& path);

}  // namespace neve::layouts
