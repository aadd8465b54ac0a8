// SPDX-License-Identifier: BSD-3-Clause
// MiniIO's cartiso: a field on a Cartesian grid and its isosurface, step after step; the grid is shared out
// evenly, the surface is where it is: some ranks have most of its triangles, others none.
#pragma once

#include <mpi.h>

#include <vector>

#include "bench/apps/cartiso/field.hpp"
#include "bench/harness/output/output.hpp"
#include "neve/status.hpp"
#include "neve/types.hpp"

namespace neve::cartiso {

struct Case {
  Shape shape;
  double level = 0.3;  // of the isosurface
  int steps = 1;
  std::array<int, 3> chunk{64, 64, 64};  // of the grid, x, y, z
  int chunk_rows = 65536;                // of points and triangles
  Bound bound{BoundMode::rel, 1e-4};     // of each array's range
  std::vector<apps::Output> outputs;
  apps::StoreOptions store;
};

struct BenchmarkResult {
  uint64_t points = 0, triangles = 0;  // of all steps
  double area = 0, volume = 0;         // of the last step's surface, and what it encloses where it is closed
  double max_over_mean = 1;            // of the ranks' triangles, last step
  uint64_t field_checksum = 0;         // of the last step
  double make_seconds = 0, extract_seconds = 0;
  std::vector<apps::StoreResult> grid;     // by every output
  std::vector<apps::StoreResult> surface;  // but by plot files, which hold grids alone
};

// Collective; the same on every rank. Wrong values are in the result (apps::check_stored), not an error.
Result<BenchmarkResult> run_benchmark(MPI_Comm comm, const Case& options);

}  // namespace neve::cartiso
