// SPDX-License-Identifier: BSD-3-Clause
// What the tiles of any number of ranks become, counted on the ranks there are: nothing is timed, and each
// tile is compressed by itself.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "bench/apps/struct/benchmark.hpp"
#include "parallel/comm/agree.hpp"

namespace neve::structured {

// Collective; the same on every rank. Of the first step, by each of Case::tile_counts and Case::balance.
Result<std::vector<TileCount>> count_tiles(const mpi::Comm& comm, const Case& options, const Ocean& ocean,
                                           std::span<const uint32_t> weights);

}  // namespace neve::structured
