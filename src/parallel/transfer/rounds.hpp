// SPDX-License-Identifier: BSD-3-Clause
// Collective calls in which ranks get values of others: a block of each part a round. While the frames of a
// round move by one of MPI's collective functions, those of the next are encoded, and those of the one before
// are decoded.
#pragma once

#include <vector>

#include "parallel/transfer/ending.hpp"
#include "parallel/transfer/pattern.hpp"

namespace neve::mpi {

struct OutPart {
  const void* data = nullptr;
  uint64_t count = 0;
};
struct InPart {
  void* data = nullptr;
  uint64_t count = 0;
};

struct RoundsCall {
  Pattern pattern = Pattern::allgather;
  int root = 0;
  Transfer transfer;
  std::vector<OutPart> out;  // as many as parts_out says
  std::vector<InPart> in;    // as many as parts_in says; none overlaps another, or a part that goes out
};

// Collective, after all ranks have agreed that their calls are sound. The same outcome on all ranks. What an
// allgather brings a rank of its own values is what it brings the others; alltoall and scatter copy a rank's
// own part. Parts whose ends have other counts are a usage error.
Status move_in_rounds(const Comm& comm, const RoundsCall& call, Moved& moved, Reached& reached);

}  // namespace neve::mpi
