// SPDX-License-Identifier: BSD-3-Clause
// MiniIO's amr, with blocks, levels and places in the file: a mesh that follows the noise, made anew every
// step and written as a plot file by several strategies and codecs.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "bench/apps/amr/mesh.hpp"
#include "bench/harness/covered.hpp"
#include "bench/harness/output/output.hpp"
#include "neve/plotfile_writer.hpp"
#include "neve/status.hpp"

namespace neve::amr_app {

// "skeleton": values as they are; "skeleton:auto", "filtered:context", ...: a strategy and a codec.
struct Method {
  std::string name, strategy;
  bool compress = false;
  Codec codec = Codec::automatic;
};
Result<Method> parse_method(const std::string& name);
// Whether its files may be written by way of a stage (WriteOptions::stage).
bool may_be_staged(const Method& method);

struct Case {
  MeshOptions mesh;
  int steps = 2, first_step = 0;
  DistributionMethod distribution = DistributionMethod::chombo;
  Bound bound{BoundMode::rel, 1e-3};  // of each level's range
  Effort effort = Effort::fast;
  Covered covered = bench_covered;
  std::vector<Method> methods;
  std::string stage;  // WriteOptions::stage of the methods that may have one; empty: none
  apps::StoreOptions store;
};

struct StepResult {
  std::vector<uint64_t> blocks;  // by level
  double max_over_mean = 1;      // of the ranks' cells
  double changed = 0;            // share of the finest level's blocks that were none the step before
};

struct BenchmarkResult {
  std::vector<StepResult> steps;
  double make_seconds = 0;  // meshes and values, all steps, of the slowest rank
  std::vector<apps::StoreResult> methods;
  // Of a method that is staged, all steps.
  struct Staged {
    double published_seconds = 0;  // from the call until the file has its name, of the last repetition
    uint64_t bytes = 0;            // on the stage
  };
  std::vector<std::optional<Staged>> staged;  // by method
};

// Collective; the same on every rank. Wrong values are in the result (apps::check_stored), not an error.
Result<BenchmarkResult> run_benchmark(MPI_Comm comm, const Case& options);

}  // namespace neve::amr_app
