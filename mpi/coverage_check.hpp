// SPDX-License-Identifier: BSD-3-Clause
// Which covered cells a file may do without.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "mpi/agree.hpp"
#include "mpi/average_exchange.hpp"
#include "mpi/plan.hpp"
#include "neve/hierarchy.hpp"
#include "neve/plotfile_writer.hpp"

namespace neve::mpi {

// Covered cells that must be stored although their field leaves covered cells out, because the finer average
// misses them: [owned box][component], index in the box, x fastest; an owned box without any has an empty
// list.
using MissedCells = std::vector<std::vector<std::vector<uint64_t>>>;

// A field keeps all its covered cells on a level where more than this share of them is missed: hydrodynamics
// codes average down and miss next to none; where many are missed the coarse values are data of their own.
inline constexpr uint64_t most_missed_divisor = 8;

// Collective. Settles ComponentSpec::drop_covered and FieldPlan::covered of every level and field of the
// plan, the same on every rank. For Covered::automatic the owners of finer boxes average what a reader will
// get from them, and the owners of the coarse boxes compare those averages with their values.
Result<MissedCells> decide_coverage(const Comm& comm, const Hierarchy& hierarchy,
                                    std::span<const LocalBox> owned, const WriteOptions& options,
                                    WritePlan& plan, const ExchangeLimits& limits = {});

}  // namespace neve::mpi
