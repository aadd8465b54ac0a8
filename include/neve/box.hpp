// SPDX-License-Identifier: BSD-3-Clause
// A rectangular set of cells of one level's index space.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#pragma GCC visibility push(default)
namespace neve {

inline constexpr int max_dims = 3;
using IntVect = std::array<int32_t, max_dims>;

// Inclusive corners, as AMReX and Chombo write them. Directions past the hierarchy's dimension are
// 0..0, so a 2D box is a 3D box one cell thick and every loop may run over three directions.
struct Box {
  IntVect lo{0, 0, 0};
  IntVect hi{0, 0, 0};

  bool operator==(const Box& other) const { return lo == other.lo && hi == other.hi; }
  bool operator!=(const Box& other) const { return !(*this == other); }

  int64_t size(int d) const { return int64_t{hi[d]} - lo[d] + 1; }
  int64_t cells() const { return empty() ? 0 : size(0) * size(1) * size(2); }
  bool empty() const { return hi[0] < lo[0] || hi[1] < lo[1] || hi[2] < lo[2]; }
  bool contains(const Box& b) const {
    for (int d = 0; d < max_dims; ++d) {
      if (b.lo[d] < lo[d] || b.hi[d] > hi[d]) return false;
    }
    return true;
  }
};

inline Box intersect(const Box& a, const Box& b) {
  Box r;
  for (int d = 0; d < max_dims; ++d) {
    r.lo[d] = std::max(a.lo[d], b.lo[d]);
    r.hi[d] = std::min(a.hi[d], b.hi[d]);
  }
  return r;  // empty() when they do not meet
}

// Division that rounds towards minus infinity: index spaces reach below 0.
inline int32_t floor_div(int32_t a, int32_t b) { return a >= 0 ? a / b : -((-a + b - 1) / b); }

// The coarse cells that hold any part of `fine`.
inline Box coarsen(const Box& fine, const IntVect& ratio) {
  Box r;
  for (int d = 0; d < max_dims; ++d) {
    r.lo[d] = floor_div(fine.lo[d], ratio[d]);
    r.hi[d] = floor_div(fine.hi[d], ratio[d]);
  }
  return r;
}

inline Box refine(const Box& coarse, const IntVect& ratio) {
  Box r;
  for (int d = 0; d < max_dims; ++d) {
    r.lo[d] = coarse.lo[d] * ratio[d];
    r.hi[d] = (coarse.hi[d] + 1) * ratio[d] - 1;
  }
  return r;
}

}  // namespace neve
#pragma GCC visibility pop
