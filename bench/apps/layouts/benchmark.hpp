// SPDX-License-Identifier: BSD-3-Clause
// How one plotfile is written by the layouts that AMRIC's section 3.3 discusses, and Neve's: times by stages
// (its figures 17 and 18), sizes, calls of the filter, and whether bounds hold.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "bench/apps/layouts/way.hpp"
#include "neve/status.hpp"

namespace neve::layouts {

constexpr int max_repeats = 1000, max_copies = 4096;

struct Case {
  std::string file;
  std::vector<Way> ways;
  double rel = 1e-3;                // of each level's range of a field
  std::vector<std::string> fields;  // none: all
  int copies = 1;
  int repeats = 3;
  std::string folder = ".";
  bool keep = false;   // the last file of each way
  bool verify = true;  // the first
  // Called on rank 0 before each write, with the share of all that is done.
  std::function<void(const std::string& way, double fraction)> progress;
};

struct Seconds {
  double prepare = 0, encode = 0, write = 0, sync = 0, total = 0;
};

struct Row {
  std::string way;
  uint64_t stored_bytes = 0;   // the file
  uint64_t dataset_bytes = 0;  // its values alone: some ways' files are plotfiles, others' hold little else
  uint64_t datasets = 0, filter_calls = 0;
  // Of the repeat with the median total, the lower middle one of an even number: the medians of the stages
  // would not add up to that of the total.
  Seconds seconds;
  double call_seconds = 0;                     // of the same repeat
  double least_seconds = 0, most_seconds = 0;  // totals, over the repeats
  uint64_t compared = 0, violations = 0;       // over all ranks
  Status error;                                // what ended it; the numbers count only without
};

struct BenchmarkResult {
  uint64_t raw_bytes = 0;
  int unit_cells = 0;  // of AMRIC's unit blocks
  std::vector<Row> rows;
};

// Collective; the same on every rank. Errors are of what no way could do without: the file, the folder. What
// ends one way is in its row.
Result<BenchmarkResult> run_benchmark(MPI_Comm comm, const Case& options);

}  // namespace neve::layouts
