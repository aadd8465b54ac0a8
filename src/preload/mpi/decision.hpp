// SPDX-License-Identifier: BSD-3-Clause
// Whether a collective call is compressed: one place for calls of all kinds. Without NEVE_MPI_ALWAYS the
// first large calls of a kind on a communicator are MPI's own, and measured; the values of one are encoded
// and decoded. What that comes to is agreed on once, and looked at again after 100, 1000, ... calls.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <functional>
#include <optional>

#include "neve/types.hpp"
#include "preload/mpi/kind.hpp"
#include "preload/mpi/packed.hpp"

namespace neve::pmpi {

// What a rank knows of a call on a communicator of one group.
struct Offer {
  Kind kind;
  // Each rank has counts of its own (MPI_Gatherv and its like): what a rank knows of them, others may not.
  bool is_of_counts;
  MPI_Comm comm;
  int root;  // of calls that have none: 0
  // The arguments are sound, and what values there are can be compressed. Otherwise the rest means nothing.
  bool is_possible;
  // Of this rank's values; none where it has no values.
  std::optional<DType> dtype;
  // Of values that this rank sends and receives. Calls that are not of counts: the same on all ranks of a
  // correct program, in MPI's terms the bytes of the smaller side (of one rank's block).
  uint64_t bytes;
  // What this rank sends, to take samples from. Count 0: nothing.
  Elements sent;
};

// Not collective, with the same answer on all ranks: calls of which nobody need ask the others. `bytes` as
// Offer says. Each call asks once.
bool is_left_to_mpi(Kind kind, bool is_of_counts, MPI_Comm comm, uint64_t bytes);

struct Decision {
  std::optional<DType> dtype;      // of the values, where the call is to be compressed
  std::optional<int> native_code;  // MPI's own call has been made, to be measured: what it returned
};

// Collective, with the same answer on all ranks. Neither: MPI's own call is to be made. Only for calls that
// are not left to MPI. `native` makes MPI's own call, and comes back when it is done.
Decision agree_to_compress(const Offer& offer, const std::function<int()>& native);

// Not collective. What a compressed call took this rank.
void note_seconds(const Offer& offer, double seconds);

}  // namespace neve::pmpi
