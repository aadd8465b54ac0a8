// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "neve/frame.hpp"

namespace neve::mpi {

// Decodes a frame that is to hold exactly `values` values of the type. Corrupt when it does not.
Status decode_block(std::span<const std::byte> frame, DType dtype, uint64_t values, std::byte* out);

}  // namespace neve::mpi
