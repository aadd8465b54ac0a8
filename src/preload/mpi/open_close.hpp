// SPDX-License-Identifier: BSD-3-Clause
// Opening and closing, as the functions of MPI.
#pragma once

#include <mpi.h>

namespace neve::pmpi {

int open_file(MPI_Comm comm, const char* name, int mode, MPI_Info info, MPI_File* handle);
int close_file(MPI_File* handle);

// Collective, over all ranks of the program, at its end: how many files were left alone for this reason,
// where not all were named.
void say_opened_by_some();

}  // namespace neve::pmpi
