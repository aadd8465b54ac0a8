// SPDX-License-Identifier: BSD-3-Clause
// How many values an array has.
#pragma once

#include <cstdint>
#include <span>

#include "neve/status.hpp"

namespace neve {

// The product of the sizes: 0 where one of them is 0, whatever the others come to; 1 without any. Usage error
// for more dimensions, a larger size or more values than a frame has.
Result<uint64_t> count_values(std::span<const uint64_t> shape);

}  // namespace neve
