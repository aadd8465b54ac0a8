// SPDX-License-Identifier: BSD-3-Clause
// The part of a codebook that kernels look up in registers.
#pragma once

#include <cstdint>
#include <span>

#include "core/kernels/stream_kernels.hpp"

namespace neve {

// The 64 symbols whose codes are used most, as far as their lengths say. `codes` are to be written least
// significant bit first.
NarrowCodes narrow_codes(std::span<const uint16_t> codes, std::span<const uint8_t> lengths);

}  // namespace neve
