// SPDX-License-Identifier: BSD-3-Clause
// MPI's collective calls that move values unchanged, as frames.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <functional>

#include "preload/mpi/decision.hpp"

namespace neve::pmpi {

// What a call sends, or what it receives, as the program says it: anything. Counts and displacements are in
// instances of the type.
struct Side {
  void* data = nullptr;
  MPI_Datatype type = MPI_DATATYPE_NULL;
  int64_t count = 0;  // of a part, where all have as many
  // A rank's part has a count and a place of its own (of the side of MPI_Gatherv and its like that has parts
  // of all ranks). Empty: arrays that the program did not give.
  bool is_of_counts = false;
  std::function<int64_t(int)> count_of = {}, displ_of = {};
};

struct Collective {
  Kind kind;
  Side send, recv;  // of a bcast the same
  int root = 0;     // of calls that have none: 0
  MPI_Comm comm;
};

// Collective. `plain`: the call as it is, for what is not to be, or cannot be, frames.
int collective(const Collective& call, const std::function<int()>& plain);

// A nonblocking call, which is MPI's own (docs/mpi.md says why): said once where it would be frames if it
// were blocking. `side`: what it sends or, in place, receives.
int pass_nonblocking(Kind kind, const Side& side, MPI_Comm comm, const std::function<int()>& plain);

}  // namespace neve::pmpi
