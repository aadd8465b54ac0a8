// SPDX-License-Identifier: BSD-3-Clause
// Waiting for other ranks without keeping a processor from them, or from whoever else has work: MPI's own
// waits ask again and again. Where a processor has other work, a process that slept is let in at once when it
// wakes, one that asked all the time has to wait for its turn.
#pragma once

#include <mpi.h>

#include <span>
#include <string_view>

#include "neve/status.hpp"

namespace neve::mpi {

// Completes the requests, of few bytes: naps would slow down large ones. Null ones are complete.
Status wait_patiently(std::span<MPI_Request> requests, std::string_view what);

// Collective, as MPI_Allreduce and MPI_Bcast. Buffers as there.
Status allreduce_patiently(const void* own, void* all, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm,
                           std::string_view what);
Status broadcast_patiently(void* values, int count, MPI_Datatype type, int root, MPI_Comm comm,
                           std::string_view what);

}  // namespace neve::mpi
