// SPDX-License-Identifier: BSD-3-Clause
// Values of all ranks at one rank, as frames.
#pragma once

#include <mpi.h>

#include <span>

#include "parallel/transfer/rate_call.hpp"
#include "parallel/transfer/send_blocks.hpp"

namespace neve::mpi {

struct GatherCall {
  Transfer transfer;
  int root = 0;
  const void* send = nullptr;  // null on root: its values are in place
  uint64_t count = 0;
  // On root:
  std::byte* recv = nullptr;
  std::vector<uint64_t> counts;  // of each rank
  std::vector<uint64_t> displs;  // in values
  // Where the bound is a ratio: what the caller's communicator has learned.
  RateSites* sites = nullptr;
};

// Collective, after all ranks have agreed that their calls are sound. The same outcome on all ranks.
Status gather_blocks(const Comm& comm, const GatherCall& call, Moved& moved, Reached& reached);

}  // namespace neve::mpi
