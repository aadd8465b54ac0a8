// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <functional>
#include <span>

#include "neve/types.hpp"
#include "parallel/transfer/block_plan.hpp"
#include "parallel/transfer/send_blocks.hpp"

namespace neve::mpi {

// What one rank sends by send_blocks.
struct Incoming {
  int source = 0;
  BlockPlan plan;
  std::byte* out = nullptr;  // plan.count values; null: what comes is not wanted
};

// What receiving came to.
struct Received {
  Status own;   // of this rank
  Status sent;  // that a sender told in the place of a block, and knows of itself
};

// Receives all of them: `from` is MPI_ANY_SOURCE, or the one source. Each block is decoded as it arrives, on
// `threads` threads beside the calling one, while others still move. Takes off all messages whatever happens;
// errors are those of the lowest source (and its lowest block) among those that were seen.
// `meanwhile`: a piece of work of the caller's for the time in which nothing comes; false when none is left.
// All of it is done when this returns.
Received receive_blocks(MPI_Comm comm, int from, int tag, DType dtype, int threads,
                        std::span<const Incoming> incoming, Moved& moved,
                        const std::function<bool()>& meanwhile = {});

}  // namespace neve::mpi
