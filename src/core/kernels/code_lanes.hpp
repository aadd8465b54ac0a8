// SPDX-License-Identifier: BSD-3-Clause
// Prefix codes back into symbols, in lanes: bit streams that are decoded side by side, since each look-up
// waits for the one before it in its own stream only. Compiled once per instruction set by whoever includes
// it.
#pragma once

#include <cstring>

#include "core/kernels/stream_kernels.hpp"

namespace neve::code_lanes {

// The top bit of `bits` stands in for how much was taken: it moves down as codes leave below, so that a lane
// is three registers (as in zstd's huff0).
inline constexpr uint64_t top = uint64_t{1} << 63;
inline constexpr int lookups_per_refill = 56 / CodeLookups::bits;

template <class Lane>
unsigned taken_bits(const Lane& lane) {
  return static_cast<unsigned>(__builtin_clzll(lane.bits));
}

template <class Lane>
[[gnu::always_inline]] inline void refill(Lane& lane) {
  const unsigned used = taken_bits(lane);
  lane.at += used / 8;
  std::memcpy(&lane.bits, lane.at, 8);
  lane.bits = (lane.bits | top) >> used % 8;
}

// False: no code fits.
[[gnu::always_inline]] inline bool look_up(CodeLane& lane, const CodeLookups& table) {
  const uint64_t entry = table.several[lane.bits & (CodeLookups::entries - 1)];
  std::memcpy(lane.out, &entry, 8);
  const uint64_t taken = entry >> CodeLookups::several_shift;
  const uint64_t count = taken >> 8;
  if (count == 0) [[unlikely]] {
    refill(lane);
    const uint32_t one = table.longer[entry + (lane.bits >> CodeLookups::bits) % CodeLookups::longer_entries];
    *lane.out++ = static_cast<uint16_t>(one);
    const uint32_t bits = one >> 16;
    lane.bits >>= bits;
    refill(lane);
    return bits != 0;
  }
  lane.out += count;
  lane.bits >>= taken % 64;
  return true;
}

// Copies of the lanes stay in registers: what is written through `out` cannot be one of them.
[[gnu::always_inline]] inline bool run_four(CodeLane* lanes, ptrdiff_t turns, const CodeLookups& of_caller) {
  const CodeLookups table = of_caller;
  CodeLane a = lanes[0];
  CodeLane b = lanes[1];
  CodeLane c = lanes[2];
  CodeLane d = lanes[3];
  bool is_good = true;
  for (; turns > 0; --turns) {
    refill(a);
    refill(b);
    refill(c);
    refill(d);
    for (int k = 0; k < lookups_per_refill; ++k) {
      is_good &= look_up(a, table);
      is_good &= look_up(b, table);
      is_good &= look_up(c, table);
      is_good &= look_up(d, table);
    }
  }
  lanes[0] = a;
  lanes[1] = b;
  lanes[2] = c;
  lanes[3] = d;
  return is_good;
}

[[gnu::always_inline]] inline bool run_one(CodeLane& of_caller, ptrdiff_t turns, const CodeLookups& table) {
  CodeLane lane = of_caller;
  bool is_good = true;
  for (; turns > 0; --turns) {
    refill(lane);
    for (int k = 0; k < lookups_per_refill; ++k) is_good &= look_up(lane, table);
  }
  of_caller = lane;
  return is_good;
}

// --- symbols of 8 bits -----------------------------------------------------------------------------------

inline constexpr int symbol_lookups_per_refill = 56 / SymbolLookups::bits;
// What a turn may take and give; and what has to be left over: a refill reads 8 bytes from where up to 8 bits
// more may have been taken, and a look-up writes 4 symbols.
inline constexpr ptrdiff_t bytes_per_turn = symbol_lookups_per_refill * SymbolLookups::bits / 8;
inline constexpr ptrdiff_t symbols_per_turn = 3 * symbol_lookups_per_refill;
inline constexpr ptrdiff_t margin_bytes = 16, margin_symbols = 4;

[[gnu::always_inline]] inline void look_up(SymbolLane& lane, uint64_t mask) {
  const uint32_t entry = lane.lookups[lane.bits & mask];
  std::memcpy(lane.out, &entry, sizeof entry);
  const uint32_t taken = entry >> SymbolLookups::bits_shift;
  lane.out += taken >> SymbolLookups::count_shift;
  lane.bits >>= taken % 64;
}

[[gnu::always_inline]] inline void run_four(SymbolLane* lanes, ptrdiff_t turns, uint64_t mask) {
  SymbolLane a = lanes[0];
  SymbolLane b = lanes[1];
  SymbolLane c = lanes[2];
  SymbolLane d = lanes[3];
  for (; turns > 0; --turns) {
    refill(a);
    refill(b);
    refill(c);
    refill(d);
    for (int k = 0; k < symbol_lookups_per_refill; ++k) {
      look_up(a, mask);
      look_up(b, mask);
      look_up(c, mask);
      look_up(d, mask);
    }
  }
  lanes[0] = a;
  lanes[1] = b;
  lanes[2] = c;
  lanes[3] = d;
}

}  // namespace neve::code_lanes
