// SPDX-License-Identifier: BSD-3-Clause
// The Chombo I/O benchmark: writes one hierarchy by several strategies, takes the time of each phase, counts,
// and reads back what it wrote.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "bench/harness/covered.hpp"
#include "neve/distribution.hpp"
#include "neve/hierarchy.hpp"
#include "neve/plotfile_writer.hpp"
#include "neve/status.hpp"

namespace neve::chombo {

enum class Grid : uint8_t { chombo, bisicles };
enum class FileKind : uint8_t { plot, checkpoint };

// One way of writing. "skeleton", "collective", ... write values as they are; "compressed" is skeleton with
// frames.
struct Way {
  std::string name;
  bool compress = false;
  std::string strategy;
};
Result<Way> parse_way(const std::string& name);

struct Case {
  Grid grid = Grid::chombo;
  FileKind file = FileKind::plot;
  IntVect units{1, 1, 1};
  int box_cells = 64;  // edge of a box (chombo) or tile (bisicles)
  int components = 2;
  int ghosts = 1;
  bool compress_ghosts = false;  // the compressed way keeps the ghosts, too
  DistributionMethod distribution = DistributionMethod::greedy;
  std::vector<Way> ways;
  int aggregate_boxes = 0;
  Bound bound;
  Effort effort = Effort::fast;
  Covered covered = bench_covered;  // of compressed plot files
  FileLayout layout;
  int repeats = 1;
  std::string folder = ".";
  bool verify = false;
  bool keep = false;  // the last file of each way
};

struct WayResult {
  std::string name;
  uint64_t mpi_writes = 0, data_bytes = 0, file_bytes = 0;
  double bound_abs = 0;  // largest of all fields; 0: bit for bit
  double max_abs_error = 0;
  uint64_t verified_values = 0;  // compared with what was written, over all ranks
  // Medians over the repeats, of the slowest rank. total is measured around everything, so it is not their
  // sum.
  double total_seconds = 0, min_seconds = 0;
  double plan_seconds = 0, encode_seconds = 0, place_seconds = 0, write_seconds = 0, sync_seconds = 0;
  std::map<std::string, std::string> hints;
};

struct BenchmarkResult {
  uint64_t boxes = 0, finest_boxes = 0;
  uint64_t value_bytes = 0;  // of valid cells
  double max_over_mean = 1;  // of the ranks' cells
  double max_over_mean_finest = 1;
  int max_finest_boxes = 0, min_finest_boxes = 0;  // on a rank
  std::vector<WayResult> ways;
};

// Collective; the same on every rank. Files lie in case.folder, which must exist, under names of their own.
// An error where a value read back is not what it must be (bound_violated).
Result<BenchmarkResult> run_benchmark(MPI_Comm comm, const Case& options);

}  // namespace neve::chombo
