// SPDX-License-Identifier: BSD-3-Clause
#include "core/stages/entropy/zero_groups.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "core/kernels/kernels.hpp"

namespace neve {

namespace {

uint64_t group_total(uint64_t symbols) { return (symbols + zero_group_symbols - 1) / zero_group_symbols; }
bool is_kept(ByteSpan bitmap, uint64_t group) {
  return ((static_cast<unsigned>(bitmap[group / 8]) >> (group % 8)) & 1) != 0;
}

}  // namespace

Result<uint64_t> kept_symbols(ByteSpan kept_bitmap, uint64_t total) {
  const uint64_t groups = group_total(total);
  if (kept_bitmap.size() != (groups + 7) / 8) {
    return corrupt(fmt::format("zero groups: bitmap of {} bytes for {} groups", kept_bitmap.size(), groups));
  }
  uint64_t kept = 0;
  for (uint64_t g = 0; g < groups; ++g) {
    if (is_kept(kept_bitmap, g))
      kept += std::min<uint64_t>(zero_group_symbols, total - g * zero_group_symbols);
  }
  return kept;
}

Symbols restore_zero_groups(ByteSpan kept_bitmap, std::span<const uint8_t> kept, uint64_t total) {
  Symbols symbols(total, symbol_zero);
  size_t from = 0;
  for (uint64_t g = 0; g < group_total(total); ++g) {
    if (!is_kept(kept_bitmap, g)) continue;
    const size_t count = std::min<uint64_t>(zero_group_symbols, total - g * zero_group_symbols);
    std::memcpy(symbols.data() + g * zero_group_symbols, kept.data() + from, count);
    from += count;
  }
  return symbols;
}

}  // namespace neve
