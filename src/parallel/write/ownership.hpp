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

// Not collective. Usage error when an owned box does not exist or has no data (of values in memory).
Status check_owned(const Hierarchy& hierarchy, const LocalValues& owned);

// What ranks claim, a word for each box, of all levels one after another: all ranks' added up name the
// owners.
size_t count_boxes(const Hierarchy& hierarchy);
void put_claims(const Hierarchy& hierarchy, std::span<const LocalBox> owned, int rank,
                std::span<uint64_t> claims);
// Room for the owners, which read_claims does not make. Usage error where there are too many boxes.
Result<Ownership> make_ownership(const Hierarchy& hierarchy);
// Not collective, the same on every rank. Usage error when a box of the hierarchy has no owner or several.
Status read_claims(std::span<const uint64_t> claims, Ownership& owners);

// Collective: all of these.
Result<Ownership> find_owners(const Comm& comm, const Hierarchy& hierarchy, const LocalValues& owned);

// What of a hierarchy steers who talks to whom: levels and boxes.
std::string boxes_key(const Hierarchy& hierarchy);
// What all ranks must pass alike of it: also the time, and what its fields are called.
std::string hierarchy_key(const Hierarchy& hierarchy);

}  // namespace neve::mpi
