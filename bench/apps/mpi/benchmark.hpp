// SPDX-License-Identifier: BSD-3-Clause
// MPI_Gather and MPI_File_write_at_all beside their counterparts of neve/transfer.h, live on the ranks at
// hand, with the speeds of one core that bench/apps/mpi/link_model.hpp needs.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <string>
#include <vector>

#include "bench/apps/mpi/calls.hpp"
#include "bench/apps/mpi/link_model.hpp"
#include "bench/apps/mpi/links.hpp"
#include "neve/status.hpp"

namespace neve::mpibench {

struct Case {
  std::string input;  // .npy that every rank holds a copy of; empty: generated
  CallOptions calls;
  uint64_t rank_bytes = 64 << 20;  // the field is repeated along its slowest direction up to this
  int repeats = 3;
  std::vector<double> links;  // imitated; each how many times slower than the ranks encode
  std::string folder = ".";
};

// Medians over the repeats, seconds of the slowest rank.
struct Result {
  int ranks = 1;
  std::string field;  // what it is
  uint64_t rank_bytes = 0;
  Speeds speeds;                            // by CPU time of rank 0's thread
  double bound_abs = 0, max_abs_error = 0;  // of all values that were gathered and written
  uint64_t compared_values = 0;
  double plain_gather_seconds = 0, gather_seconds = 0;
  double plain_write_seconds = 0, write_seconds = 0;
  std::vector<LinkPoint> links;
};

// Collective. An error of the bound is an error of the benchmark.
neve::Result<Result> run_benchmark(MPI_Comm comm, const Case& options);

}  // namespace neve::mpibench
