// SPDX-License-Identifier: BSD-3-Clause
// Values from one rank to another, as frames: a message that says what follows, and one for each block.
#pragma once

#include <mpi.h>

#include "parallel/transfer/send_blocks.hpp"

namespace neve::mpi {

// Not collective.
Status send_values(MPI_Comm comm, const Transfer& transfer, const void* values, uint64_t count, int dest,
                   int tag, Moved& moved);

// Not collective. Up to `room` values; `received` is how many came, `from` what MPI says of the message.
Status receive_values(MPI_Comm comm, const Transfer& transfer, void* values, uint64_t room, int source,
                      int tag, uint64_t& received, MPI_Status& from, Moved& moved);

}  // namespace neve::mpi
