// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>

#include "neve/frame.hpp"
#include "parallel/comm/agree.hpp"

namespace neve::mpi {

// Collective: each rank's ranges become those over all ranks. As many on every rank.
Status merge_over_ranks(const Comm& comm, std::span<ValueRange> ranges);

}  // namespace neve::mpi
