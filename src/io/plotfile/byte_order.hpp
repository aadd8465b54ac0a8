// SPDX-License-Identifier: BSD-3-Clause
// Values of the other byte order.
#pragma once

#include <cstddef>
#include <span>

#include "neve/types.hpp"

namespace neve::plotfile {

// Reverses the bytes of each value, in place.
void reverse_bytes(DType dtype, std::span<std::byte> values);

}  // namespace neve::plotfile
