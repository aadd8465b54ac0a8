// SPDX-License-Identifier: BSD-3-Clause
// A program's own MPI_Gather, over and over: with and without `neve mpi run` it shows what that costs where
// there is nothing to gain.
#pragma once

#include <mpi.h>

#include <cstdint>

#include "neve/status.hpp"

namespace neve::mpibench {

struct OwnGathers {
  uint64_t rank_bytes = 0;
  int calls = 0;
  double median_seconds = 0;  // of the slowest rank in each call
};

// Collective: floats to rank 0, without any of Neve's own calls. The first tenth of the calls does not count.
neve::Result<OwnGathers> time_own_gathers(MPI_Comm comm, uint64_t rank_bytes, int calls);

}  // namespace neve::mpibench
