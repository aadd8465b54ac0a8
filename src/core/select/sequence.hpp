// SPDX-License-Identifier: BSD-3-Clause
// Places to sample at, as good as random, and alike everywhere for the same data.
#pragma once

#include <cstddef>
#include <cstdint>

namespace neve {

// Numbers by a linear congruential generator (Knuth's constants for MMIX, "The Art of Computer Programming",
// volume 2, 3.3.4).
class Sequence {
 public:
  // At least 0, below the limit; 0 where that is 0.
  uint64_t below(uint64_t limit) {
    state_ = state_ * 6364136223846793005ULL + 1442695040888963407ULL;
    return limit == 0 ? 0 : (state_ >> 33) % limit;
  }

 private:
  uint64_t state_ = 0x9e3779b97f4a7c15ULL;
};

}  // namespace neve
