// SPDX-License-Identifier: BSD-3-Clause
// Who owns which box, made known to every rank and checked before anything depends on it.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "neve/hierarchy.hpp"
#include "neve/plotfile_writer.hpp"
#include "neve/status.hpp"
#include "parallel/comm/agree.hpp"
#include "parallel/write/local_values.hpp"

namespace neve::mpi {

// owner[level][box] is a rank.
using Ownership = std::vector<std::vector<int>>;

// Collective. Usage error when an owned box does not exist, has no data (of values in memory), or when a box
// of the hierarchy has no owner or several.
Result<Ownership> find_owners(const Comm& comm, const Hierarchy& hierarchy, const LocalValues& owned);

// The parts of a hierarchy that steer communication, for check_same_everywhere.
std::string hierarchy_key(const Hierarchy& hierarchy);

}  // namespace neve::mpi
