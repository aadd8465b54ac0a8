// SPDX-License-Identifier: BSD-3-Clause
// Messages that nobody has room for. They are taken off all the same, so that who sends them goes on.
#pragma once

#include <mpi.h>

#include "neve/status.hpp"
#include "parallel/transfer/block_plan.hpp"

namespace neve::mpi {

// A matched message of so many bytes; takes no memory for them.
Status take_off(MPI_Message& message, int bytes);

// All that send_blocks sends by a plan. `sent`: the failure that the sender told in the place of a block.
Status take_off_blocks(MPI_Comm comm, int source, int tag, const BlockPlan& plan, Status& sent);

}  // namespace neve::mpi
