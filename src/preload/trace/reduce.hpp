// SPDX-License-Identifier: BSD-3-Clause
// What happens at MPI_Finalize: the ranks' parts become one file.
#pragma once

namespace neve::trace {

// Collective over all ranks. Where the file cannot be written the parts stay, for `neve trace report` to
// merge.
void reduce_to_first_rank();

}  // namespace neve::trace
