// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

namespace neve::pmpi {

// Of collective calls that move values unchanged.
enum class Kind : uint8_t { gather, allgather, alltoall, bcast, scatter };

}  // namespace neve::pmpi
