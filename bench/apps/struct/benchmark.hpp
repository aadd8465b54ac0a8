// SPDX-License-Identifier: BSD-3-Clause
// MiniIO's struct: a static structured grid in tiles, whose blanked points load ranks unevenly; written step
// after step by several outputs, with tiles of equal size and with tiles of equal load.
#pragma once

#include <mpi.h>

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "bench/apps/struct/ocean.hpp"
#include "bench/harness/output/output.hpp"
#include "neve/status.hpp"
#include "neve/types.hpp"

namespace neve::structured {

struct Case {
  Grid grid;
  double valid = 0.65;
  std::optional<double> threshold;  // of the mask; instead of `valid`
  std::array<int, 2> tasks{0, 0};   // of equal tiles; 0: chosen
  std::vector<bool> balance = {false, true};
  std::vector<int> tile_counts;  // not empty: tiles of so many ranks each are counted, and no file is stored
  int steps = 1, first_step = 0;
  std::array<int, 3> chunk{64, 64, 64};  // x, y, depth; at most the grid
  Bound bound{BoundMode::abs, 1e-4};     // of lossy outputs; rel: of the range of a step's valid points
  std::vector<apps::Output> outputs;
  apps::StoreOptions store;
};

struct LayoutResult {
  bool balanced = false;
  double max_over_mean = 1;            // of the ranks' valid points: the load of computing
  double points_max_over_mean = 1;     // of all their points: the load of writing them as they are
  std::vector<uint64_t> valid_points;  // of each rank
  std::vector<uint64_t> raw_bytes;     // of each rank's points, valid or not
  double make_seconds = 0;             // computing the field, all steps, of the slowest rank
  std::vector<apps::StoreResult> outputs;
};

struct OutputCount {
  std::string name, container, compression;
  std::vector<uint64_t> bytes;  // of each tile, compressed by itself
};

// The tiles of as many ranks as `valid_points` has numbers.
struct TileCount {
  bool balanced = false;
  std::vector<uint64_t> valid_points, raw_bytes;
  std::vector<OutputCount> outputs;
};

struct BenchmarkResult {
  double valid = 0;  // fraction of points, counted
  double threshold = 0;
  double bound_abs = 0;         // of the last step; 0 where tiles are counted
  uint64_t field_checksum = 0;  // of the last step's whole field: the same for any number of ranks
  std::vector<LayoutResult> layouts;
  std::vector<TileCount> tile_counts;  // where Case::tile_counts asks for them; then no layout
};

// Collective; the same on every rank. Wrong values are in the result (apps::check_stored), not an error.
Result<BenchmarkResult> run_benchmark(MPI_Comm comm, const Case& options);

}  // namespace neve::structured
