// SPDX-License-Identifier: BSD-3-Clause
// Who sends which averages of finer cells to whom. Both sides work it out from the box lists, so that no
// message announces another and no rank ever holds a whole level.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/amr/box_index.hpp"
#include "neve/box.hpp"
#include "neve/hierarchy.hpp"
#include "parallel/write/ownership.hpp"

namespace neve::mpi {

// Covered coarse cells whose averages travel together.
struct AveragePart {
  int round = 0;
  int peer = 0;  // the other rank
  int slab = 0;  // fixes one order on both sides
  int fine_box = 0;
  int coarse_box = 0;
  Box cells;  // in the coarse level's index space; refined they lie in one box of the finer level
};

// Between one level and the next finer one. Parts are sorted by round, peer, slab, coarse box; those of one
// round and peer are one message.
struct AverageExchange {
  int rounds = 0;                     // the same on every rank
  std::vector<AveragePart> sends;     // from this rank's fine boxes
  std::vector<AveragePart> receives;  // for this rank's coarse boxes
};

// What bounds the memory of an exchange. Only tests choose other values.
struct ExchangeLimits {
  int64_t slab_bytes = int64_t{4} << 20;   // fine boxes are restored in slabs of about this much
  int64_t round_bytes = int64_t{8} << 20;  // a rank sends about this much at a time
};

AverageExchange plan_average_exchange(const Hierarchy& hierarchy, size_t coarse_level,
                                      const amr::BoxIndex& coarse_index, const Ownership& owners, int rank,
                                      const ExchangeLimits& limits = {});

}  // namespace neve::mpi
