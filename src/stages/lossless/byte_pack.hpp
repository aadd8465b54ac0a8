// SPDX-License-Identifier: BSD-3-Clause
// A self-describing stretch of bytes: as it is, or by zstd where that pays.
#pragma once

#include <cstdint>

#include "format/bytes.hpp"
#include "neve/status.hpp"

namespace neve {

// zstd level for side streams: masks, escapes, exact values. They are small beside the symbols.
inline constexpr int side_stream_zstd_level = 3;

void write_packed(ByteSpan bytes, ByteWriter& out);
// The same, as they are.
void write_raw(ByteSpan bytes, ByteWriter& out);

// Errors: corrupt; also when the declared size is above `max_bytes`, before anything is allocated.
Result<Bytes> read_packed(ByteReader& in, uint64_t max_bytes);

}  // namespace neve
