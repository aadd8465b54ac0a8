// SPDX-License-Identifier: BSD-3-Clause
// Opening and closing, as the functions of MPI.
#pragma once

#include <mpi.h>

namespace neve::pmpi {

int open_file(MPI_Comm comm, const char* name, int mode, MPI_Info info, MPI_File* handle);
int close_file(MPI_File* handle);

// Collective over MPI_COMM_WORLD: rank 0 says how often files were left alone for this reason.
void say_opened_by_some();

}  // namespace neve::pmpi
