// SPDX-License-Identifier: BSD-3-Clause
// What compressed calls came to, by the kind of call.
#pragma once

#include <cstdint>

#include "neve/transfer.h"
#include "neve/types.hpp"
#include "preload/mpi/decision.hpp"

namespace neve::pmpi {

// What tells the sites of calls apart.
struct CallSite {
  Kind kind = Kind::gather;
  bool is_of_counts = false;
  DType dtype = DType::f32;
  int ranks = 0;             // of the communicator
  uint64_t value_bytes = 0;  // that a call sends, of all ranks; 0: several numbers

  auto operator<=>(const CallSite&) const = default;
};

// "MPI_Gatherv"
const char* name_of(Kind kind, bool is_of_counts);

// By one rank of the communicator.
void count_call(const CallSite& site, const neve_mpi_reached& reached, double seconds);

struct CallSums {
  uint64_t calls = 0, value_bytes = 0, moved_bytes = 0;
};
// Collective over MPI_COMM_WORLD: rank 0 says on stderr what each site's calls came to, and gets the sums of
// all.
CallSums say_calls();

}  // namespace neve::pmpi
