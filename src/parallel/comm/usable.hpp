// SPDX-License-Identifier: BSD-3-Clause
// What a call needs of MPI and of its communicator, looked at before any MPI call that would end the program.
#pragma once

#include <mpi.h>

#include "neve/status.hpp"

namespace neve::mpi {

// Usage error before MPI_Init, after MPI_Finalize, and on a thread that may not call MPI at the level that
// MPI was initialized with.
Status check_mpi_is_usable();

// The same, and that the communicator is one of a single group.
Status check_communicator(MPI_Comm comm);

}  // namespace neve::mpi
