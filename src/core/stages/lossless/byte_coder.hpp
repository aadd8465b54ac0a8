// SPDX-License-Identifier: BSD-3-Clause
// The general byte compressors, behind one call each way.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "core/bits/bytes.hpp"
#include "core/stages/lossless/byte_pack.hpp"
#include "neve/status.hpp"

namespace neve {

// Values are those of the frame format; never renumber.
enum class ByteCoder : uint8_t { zstd = 0, lz4 = 1, zlib = 2, bzip2 = 3, lzo = 4 };
std::string_view byte_coder_name(ByteCoder coder);

// Whether this process can use it: LZO and bzip2 are used where their libraries are installed.
bool has_byte_coder(ByteCoder coder);

// zlib takes level 6 and bzip2 9; LZO has none.
struct CoderLevels {
  int zstd = side_zstd_level;
  int lz4_acceleration = 1;  // as many times faster through what has no repeats, about
};

// Compressed size and bytes; as they are when that is no longer. Errors: usage when the coder is not there.
Status write_coded(ByteCoder coder, ByteSpan bytes, ByteWriter& out, const CoderLevels& levels = {});

// Exactly `size` bytes, or those that `out` has room for. Errors: corrupt; failure when the coder is not
// there.
Result<Bytes> read_coded(ByteCoder coder, ByteReader& in, uint64_t size);
Status read_coded(ByteCoder coder, ByteReader& in, std::span<std::byte> out);

}  // namespace neve
