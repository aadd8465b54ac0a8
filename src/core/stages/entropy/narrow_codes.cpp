// SPDX-License-Identifier: BSD-3-Clause
#include "core/stages/entropy/narrow_codes.hpp"

#include <algorithm>

namespace neve {

namespace {

constexpr uint32_t whole = 1U << 16;
// With more than this outside, every other group of 32 symbols would be tried in vain.
constexpr uint32_t min_inside = whole - whole / 48;

// What share of the code space a code takes: about how often its symbol occurs.
uint32_t share(uint8_t length) { return length == 0 || length > NarrowCodes::max_bits ? 0 : whole >> length; }

}  // namespace

NarrowCodes narrow_codes(std::span<const uint16_t> codes, std::span<const uint8_t> lengths) {
  size_t best_end = NarrowCodes::symbols;
  uint32_t best = 0;
  uint32_t inside = 0;
  for (size_t end = 1; end <= lengths.size(); ++end) {
    inside += share(lengths[end - 1]);
    if (end > NarrowCodes::symbols) inside -= share(lengths[end - 1 - NarrowCodes::symbols]);
    if (inside > best) {
      best = inside;
      best_end = std::max(end, NarrowCodes::symbols);
    }
  }
  NarrowCodes narrow;
  narrow.first = static_cast<uint16_t>(best_end - NarrowCodes::symbols);
  narrow.is_worthwhile = best >= min_inside;
  for (size_t k = 0; k < NarrowCodes::symbols; ++k) {
    const uint16_t code = codes[narrow.first + k];
    const uint8_t length = lengths[narrow.first + k];
    if (length > NarrowCodes::max_bits) continue;
    narrow.low[k] = static_cast<uint8_t>(code);
    narrow.high_and_length[k] = static_cast<uint8_t>(code >> 8 << 4 | length);
  }
  return narrow;
}

}  // namespace neve
