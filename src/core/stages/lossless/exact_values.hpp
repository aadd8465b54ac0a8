// SPDX-License-Identifier: BSD-3-Clause
// Values kept bit for bit: bytes of equal significance together, so that zstd finds what repeats.
#pragma once

#include <cstdint>

#include "core/bits/bytes.hpp"
#include "neve/status.hpp"

namespace neve {

void write_exact_values(ByteSpan values, size_t value_bytes, ByteWriter& out);
// Exactly `count` values of value_bytes each. Errors: corrupt.
Result<Bytes> read_exact_values(ByteReader& in, uint64_t count, size_t value_bytes);

}  // namespace neve
