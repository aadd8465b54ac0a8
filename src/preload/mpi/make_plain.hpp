// SPDX-License-Identifier: BSD-3-Clause
// Files of frames turned into plain ones.
#pragma once

#include "preload/mpi/open_file.hpp"

namespace neve::pmpi {

// Collective, of a framed file. All that it holds, and that single ranks have written into it, is a plain
// file: of its path where the program may write it, else of no name. MPI's own calls go there, by the
// program's view; the file pointers are still to be handed over. After an error the file is what it was.
Status make_plain(OpenFile& file, Reason reason);

// Collective, of a file without frames whose ranks have agreed to leave it so: what their journals have goes
// into it.
Status settle_plain(OpenFile& file, Reason reason);

// Not collective, and safe beside others that do the same: what lies there is a plain file.
Status make_plain_alone(const std::string& path);

// Whether the view is the one that the program has by now, or that of an open.
enum class Pointers { as_they_are, as_opened };

// MPI's own calls go to a file of this path from here on, opened by all of `comm`.
Status open_native(OpenFile& file, MPI_Comm comm, const std::string& path,
                   Pointers pointers = Pointers::as_they_are);

}  // namespace neve::pmpi
