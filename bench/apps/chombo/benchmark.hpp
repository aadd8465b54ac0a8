// SPDX-License-Identifier: BSD-3-Clause
// The Chombo I/O benchmark: writes one hierarchy in several ways, takes the time of each phase, counts, and
// reads back what it wrote.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "bench/apps/chombo/contents.hpp"
#include "bench/apps/chombo/way.hpp"
#include "bench/apps/chombo/write_way.hpp"
#include "neve/status.hpp"

namespace neve::chombo {

struct Case {
  ContentsCase contents;
  std::vector<Way> ways;
  WriteCase write;
  int repeats = 1;
  std::string folder = ".";
  bool verify = false;
  bool read_back = false;
  bool keep = false;  // the last file of each way
};

struct WayResult {
  Way way;
  uint64_t mpi_writes = 0, data_bytes = 0, file_bytes = 0;
  uint64_t peak_buffer_bytes = 0;      // WayReport
  bool reads_and_writes_back = false;  // the MPI library may, with the hints in use
  double bound_abs = 0;                // largest of all fields; 0: bit for bit
  double max_abs_error = 0;
  uint64_t verified_values = 0;  // compared with what was written, over all ranks
  // Medians over the repeats, of the slowest rank. total is measured around everything, so it is not their
  // sum.
  double total_seconds = 0, min_seconds = 0;
  double plan_seconds = 0, encode_seconds = 0, place_seconds = 0, write_seconds = 0, sync_seconds = 0;
  double read_seconds = 0;  // with Case::read_back
  // Of a staged way: bytes on the stage, and the median time from the call until the file has its name.
  uint64_t staged_bytes = 0;
  double published_seconds = 0;
  std::map<std::string, std::string> hints;
};

struct BenchmarkResult {
  std::string mpi_io;  // MpiIo::name
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
