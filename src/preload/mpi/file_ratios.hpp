// SPDX-License-Identifier: BSD-3-Clause
// Writes of all ranks under a ratio.
#pragma once

#include <memory>

#include "parallel/transfer/rate_call.hpp"
#include "parallel/transfer/rate_sites.hpp"

namespace neve::pmpi {

// What files that are written one after another learn from each other; nothing in a program whose threads may
// write several at a time.
std::shared_ptr<mpi::RateSites> file_rate_sites();

// Counts a write of all ranks, on the rank that is to say what they came to.
void count_ratio(const mpi::Reached& reached, double seconds);
// A line for each kind of call.
void say_file_ratios();

}  // namespace neve::pmpi
