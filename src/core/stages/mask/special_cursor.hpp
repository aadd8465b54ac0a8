// SPDX-License-Identifier: BSD-3-Clause
// Walks the special runs of a section by position.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

#include "core/kernels/portable.hpp"
#include "core/stages/mask/special_values.hpp"

namespace neve {

class SpecialCursor {
 public:
  explicit SpecialCursor(const SpecialValues& specials) : specials_(specials) {}

  // First special position at or after `position`; UINT64_MAX when there is none. Positions must rise.
  uint64_t next(uint64_t position) {
    while (run_ < specials_.runs.size() && end_of(specials_.runs[run_]) <= position) ++run_;
    return run_ < specials_.runs.size() ? std::max<uint64_t>(position, specials_.runs[run_].begin)
                                        : UINT64_MAX;
  }
  // First position behind the run of the one that next() just returned: all in it are special.
  uint64_t run_end() const { return end_of(specials_.runs[run_]); }
  // Bits of the special value at `position`, which next() just returned, or later in its run.
  uint64_t bits(uint64_t position) const {
    const SpecialRun& run = specials_.runs[run_];
    return specials_.bits(run, position - run.begin);
  }
  // Whether that value is a listed one.
  bool is_listed() const { return specials_.runs[run_].pattern == listed_pattern; }
  // How many lie in [begin, end), without moving.
  uint64_t count(uint64_t begin, uint64_t end) const {
    uint64_t sum = 0;
    for (size_t r = run_; r < specials_.runs.size() && specials_.runs[r].begin < end; ++r) {
      const uint64_t from = std::max<uint64_t>(begin, specials_.runs[r].begin);
      const uint64_t to = std::min(end, end_of(specials_.runs[r]));
      sum += to > from ? to - from : 0;
    }
    return sum;
  }

 private:
  static uint64_t end_of(const SpecialRun& run) { return uint64_t{run.begin} + run.count; }

  const SpecialValues& specials_;
  size_t run_ = 0;
};

template <class T>
T value_of_bits(uint64_t bits) {
  return std::bit_cast<T>(static_cast<portable::BitsOf<T>>(bits));
}

}  // namespace neve
