// SPDX-License-Identifier: BSD-3-Clause
// Smooth fields leave long stretches of zero residuals, for which Huffman's one bit a symbol is too much:
// groups of sixteen zeros are marked in a bitmap and taken out.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/bits/bytes.hpp"
#include "core/threads/scratch.hpp"
#include "neve/status.hpp"

namespace neve {

inline constexpr size_t zero_group_symbols = 16;

struct ZeroGroups {
  Bytes kept_bitmap;  // one bit a group, 1 = its symbols are in `kept`
  Symbols kept;       // the last group may be short
};

ZeroGroups remove_zero_groups(std::span<const uint8_t> symbols);

// How many symbols the bitmap keeps of `total`. Errors: corrupt (bitmap of the wrong size).
Result<uint64_t> kept_symbols(ByteSpan kept_bitmap, uint64_t total);
// The inverse; sizes were checked by kept_symbols.
Symbols restore_zero_groups(ByteSpan kept_bitmap, std::span<const uint8_t> kept, uint64_t total);

}  // namespace neve
