// SPDX-License-Identifier: BSD-3-Clause
// From a file layout in plain words to the MPI-IO hints that MPI libraries obey.
#pragma once

#include <mpi.h>

#include "neve/file_layout.hpp"
#include "neve/status.hpp"
#include "parallel/comm/agree.hpp"
#include "parallel/file/write_pieces.hpp"

namespace neve::mpi {

// What Neve asks for by itself, over that what the layout means, over that `given`, over that NEVE_MPI_HINTS;
// a usage error where the layout is none.
Result<Hints> hints_for(const FileLayout& layout, const Hints& given);

// Collective: what MPI_File_get_info says on rank 0, the same on every rank. Open MPI repeats what it was
// given, MPICH says what it works with.
Result<Hints> hints_of(const Comm& comm, MPI_File file);

}  // namespace neve::mpi
