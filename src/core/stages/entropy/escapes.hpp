// SPDX-License-Identifier: BSD-3-Clause
// Residuals too large for a symbol: the number of significant bits of the zigzag value as a byte, the bits
// below the top one raw. Elias-gamma's idea with the length part left to zstd.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/bits/bytes.hpp"
#include "neve/status.hpp"

namespace neve {

void write_escapes(std::span<const int32_t> escapes, ByteWriter& out);
// At most `max_count`. Errors: corrupt.
Result<std::vector<int32_t>> read_escapes(ByteReader& in, uint64_t max_count);

}  // namespace neve
