// SPDX-License-Identifier: BSD-3-Clause
// Files of frames turned into plain ones.
#pragma once

#include "preload/mpi/open_file.hpp"

namespace neve::pmpi {

// Collective, of a framed file. All that it holds, and that single ranks have written into it, is a plain
// file: of its path where the program may write it, else of no name. MPI's own calls go there, by the
// program's view and file pointers. After an error the file is what it was.
Status make_plain(OpenFile& file, Reason reason);

// Collective, of a file without frames whose ranks have agreed to leave it so.
Status settle_plain(OpenFile& file, Reason reason);
// Collective: where the program has set the size to 0, the path has that empty file.
Status publish_emptied(OpenFile& file);

// Collective: all that a framed file held is gone. It is undecided.
Status make_empty(OpenFile& file);

// Not collective, and safe beside others that do the same: what lies there is a plain file.
Status make_plain_alone(const std::string& path);

// Whether the view and the file pointers are those that the program has by now, or those of an open.
enum class Pointers { as_they_are, as_opened };

// MPI's own calls go to a file of this path from here on, opened by all of `comm`.
Status open_native(OpenFile& file, MPI_Comm comm, const std::string& path,
                   Pointers pointers = Pointers::as_they_are);

}  // namespace neve::pmpi
