// SPDX-License-Identifier: BSD-3-Clause
// MPI_Gather and MPI_Gatherv as frames.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <functional>
#include <span>

namespace neve::pmpi {

// The arguments of either, counts in elements of the type. They may be anything.
struct Gather {
  const void* send;
  int64_t send_count;
  MPI_Datatype send_type;
  void* recv;
  int64_t recv_count;  // of MPI_Gather
  // Of MPI_Gatherv, root's. Not there: MPI_Gather, or arrays that the program did not give.
  std::function<int64_t(int)> count_of;
  std::function<int64_t(int)> displ_of;
  bool is_of_counts;  // MPI_Gatherv
  MPI_Datatype recv_type;
  int root;
  MPI_Comm comm;
};

// Collective. `plain`: the call as it is, for what is not to be, or cannot be, frames.
int gather(const Gather& call, const std::function<int()>& plain);

struct Counts {
  uint64_t calls = 0, value_bytes = 0, frame_bytes = 0;
};
// Of this rank, where it sent.
const Counts& gather_counts();
// Under a ratio: what the calls came to whose root this rank was, on stderr, a line for each kind.
void say_ratios();

}  // namespace neve::pmpi
