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

inline unsigned taken_bits(const CodeLane& lane) { return static_cast<unsigned>(__builtin_clzll(lane.bits)); }

[[gnu::always_inline]] inline void refill(CodeLane& lane) {
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

}  // namespace neve::code_lanes
