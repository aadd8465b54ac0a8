// SPDX-License-Identifier: BSD-3-Clause
// Reads and writes of MPI's own, by place: the file pointers of a file that may get frames are kept here.
#pragma once

#include "preload/mpi/files.hpp"
#include "preload/mpi/open_file.hpp"

namespace neve::pmpi {

// Of elements from byte `at` of the view on; collective where the program's call is one that waits for all
// ranks and no split one. `bytes`: how many were moved. An MPI error code.
int access_natively(OpenFile& file, const Access& access, uint64_t at, uint64_t& bytes);

// Collective, of a file that is plain from here on: MPI gets the file pointers.
Status hand_over_pointers(OpenFile& file);

}  // namespace neve::pmpi
