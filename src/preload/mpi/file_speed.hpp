// SPDX-License-Identifier: BSD-3-Clause
// Whether frames would be in a file sooner than values.
#pragma once

#include "preload/mpi/agreement.hpp"
#include "preload/mpi/open_file.hpp"

namespace neve::pmpi {

// Collective, of a file that would get its first frames now; `value_bytes`: the most that a rank writes. The
// file system is measured, by a scratch file beside that is synced, and the codec, on the values of this
// call, at the first file of each file system and number of ranks, and again after 10, 100, ... files.
Result<bool> frames_pay(OpenFile& file, const Proposal& mine, uint64_t value_bytes);

}  // namespace neve::pmpi
