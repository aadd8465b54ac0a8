// SPDX-License-Identifier: BSD-3-Clause
// The mask of a section: which of its values are not coded by quantization codes, and what they are, bit for
// bit.
//
// NaN, infinities, -0 and fill values repeat, so runs of them refer to a short table of bit patterns;
// finite values that the bound cannot hold are listed.
#pragma once

#include <cstdint>
#include <cstring>
#include <vector>

#include "core/bits/bytes.hpp"
#include "neve/status.hpp"

namespace neve {

// Small: a section may have as many as values, of which it has at most 2^21 and margins.
struct SpecialRun {
  uint32_t begin = 0;  // position among the values the section holds
  uint32_t count = 0;
  uint32_t listed = 0;  // of a listed run: index of its first value in `listed`
  uint8_t pattern = 0;  // index into patterns, or listed_pattern
};

inline constexpr uint8_t listed_pattern = 15;  // also the most patterns a section can have

struct SpecialValues {
  std::vector<uint64_t> patterns;
  std::vector<SpecialRun> runs;  // by position, disjoint, counts >= 1
  std::vector<uint64_t> listed;  // bits, in order

  // Positions must rise. `repeats` says that others like it are to be expected.
  void add(uint64_t position, uint64_t bits, bool repeats);
  // As often, of a value that repeats, from `begin` on; count is 1 at least.
  void add_run(uint64_t begin, uint64_t run_count, uint64_t bits);
  uint64_t count() const;
  uint64_t bits(const SpecialRun& run, uint64_t offset) const {
    return run.pattern == listed_pattern ? listed[run.listed + offset] : patterns[run.pattern];
  }
};

// How many of n values have the bits of the first: all, or those up to another.
template <class T>
size_t values_alike(const T* values, size_t n) {
  if (std::memcmp(values, values + 1, (n - 1) * sizeof(T)) == 0) return n;
  size_t same = 1;
  while (std::memcmp(values + same, values, sizeof(T)) == 0) ++same;
  return same;
}

void write_special_values(const SpecialValues& specials, size_t value_bytes, ByteWriter& out);
// Errors: corrupt, also when a run leaves the `held` values of the section.
Result<SpecialValues> read_special_values(ByteReader& in, size_t value_bytes, uint64_t held);

}  // namespace neve
