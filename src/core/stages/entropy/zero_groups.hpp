// SPDX-License-Identifier: BSD-3-Clause
// Stretches of zero residuals, as frames have them that no longer are written so: groups of sixteen zeros are
// marked in a bitmap and taken out. (Runs, zero_runs.hpp, take less.)
#pragma once

#include <cstdint>
#include <span>

#include "core/bits/bytes.hpp"
#include "core/threads/scratch.hpp"
#include "neve/status.hpp"

namespace neve {

inline constexpr size_t zero_group_symbols = 16;

// How many symbols the bitmap, one bit a group, keeps of `total`: those of groups whose bit is 1. The last
// group may be short. Errors: corrupt (bitmap of the wrong size).
Result<uint64_t> kept_symbols(ByteSpan kept_bitmap, uint64_t total);
// All symbols; sizes were checked by kept_symbols.
Symbols restore_zero_groups(ByteSpan kept_bitmap, std::span<const uint8_t> kept, uint64_t total);

}  // namespace neve
