// SPDX-License-Identifier: BSD-3-Clause
// MiniIO's unstruct: points, wedges and triangles of superquadric shells, written step after step by several
// outputs: values within a bound, connectivity bit for bit.
#pragma once

#include <mpi.h>

#include <vector>

#include "bench/apps/unstruct/shells.hpp"
#include "bench/harness/output/output.hpp"
#include "neve/status.hpp"
#include "neve/types.hpp"

namespace neve::unstruct {

struct Case {
  ShellOptions shells;
  int steps = 1, first_step = 0;
  int chunk_rows = 65536;
  Bound bound{BoundMode::rel, 1e-4};  // of each array's range
  std::vector<apps::Output> outputs;  // of HDF5 and raw ones; plot files hold grids alone
  apps::StoreOptions store;
};

struct BenchmarkResult {
  uint64_t points = 0, wedges = 0, triangles = 0;  // of a step
  double make_seconds = 0;
  std::vector<apps::StoreResult> values;        // points and noise
  std::vector<apps::StoreResult> connectivity;  // wedges and triangles
};

// Collective; the same on every rank. Wrong values are in the result (apps::check_stored), not an error.
Result<BenchmarkResult> run_benchmark(MPI_Comm comm, const Case& options);

}  // namespace neve::unstruct
