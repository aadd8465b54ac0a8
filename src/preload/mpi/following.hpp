// SPDX-License-Identifier: BSD-3-Clause
// Files that change under a handle of theirs.
#pragma once

#include "preload/mpi/open_file.hpp"

namespace neve::pmpi {

// What rank 0 finds under the path, for all.
struct Found {
  bool is_frames = false;
  uint64_t bytes = 0;
};
Found look_at(const std::string& path, MPI_Comm comm);

// Not collective: a file of some ranks whose values were those of another handle goes its own way once that
// is closed, or is a plain file.
Status follow(OpenFile& file);

// Collective, of a framed file that is only read: what others have made of it since.
Status look_again(OpenFile& file);

}  // namespace neve::pmpi
