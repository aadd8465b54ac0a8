// SPDX-License-Identifier: BSD-3-Clause
// Whether ranks hold the same field together, however they share it.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "bench/harness/boxes.hpp"
#include "neve/status.hpp"
#include "parallel/comm/agree.hpp"

namespace neve::apps {

// Collective: of the bits and places of all values, in any order. `values` of the box, x fastest.
Result<uint64_t> field_checksum(const mpi::Comm& comm, const std::array<int, 3>& cells, const GridBox& box,
                                const std::vector<float>& values);

}  // namespace neve::apps
