// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "preload/trace/part.hpp"

namespace neve::trace {

// Another access of `bytes`: in Darshan's ten ranges, and exactly, as far as there is memory for sizes.
void count_size(PartAccesses& accesses, uint64_t bytes);

}  // namespace neve::trace
