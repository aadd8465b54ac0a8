// SPDX-License-Identifier: BSD-3-Clause
// Equal boxes of a 3D grid, one a rank.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace neve::apps {

struct GridBox {
  std::array<int, 3> first{0, 0, 0}, size{0, 0, 0};

  uint64_t cells() const {
    return static_cast<uint64_t>(size[0]) * static_cast<uint64_t>(size[1]) * static_cast<uint64_t>(size[2]);
  }
};

// How many ranks stand along x, y, z, so that the boxes have little surface.
inline std::array<int, 3> share_out(const std::array<int, 3>& cells, int ranks) {
  std::array<int, 3> best = {ranks, 1, 1};
  double least = std::numeric_limits<double>::infinity();
  for (int x = 1; x <= ranks; ++x) {
    if (ranks % x != 0) continue;
    for (int y = 1; y <= ranks / x; ++y) {
      if (ranks / x % y != 0) continue;
      const int z = ranks / x / y;
      const double sides[3] = {static_cast<double>(cells[0]) / x, static_cast<double>(cells[1]) / y,
                               static_cast<double>(cells[2]) / z};
      const double surface = sides[0] * sides[1] + sides[1] * sides[2] + sides[2] * sides[0];
      if (surface < least) {
        least = surface;
        best = {x, y, z};
      }
    }
  }
  return best;
}

inline GridBox box_of_rank(const std::array<int, 3>& cells, const std::array<int, 3>& ranks, int rank) {
  const std::array<int, 3> place = {rank % ranks[0], rank / ranks[0] % ranks[1], rank / ranks[0] / ranks[1]};
  GridBox box;
  for (size_t d = 0; d < 3; ++d) {
    const auto begin = [&](int p) { return static_cast<int>(int64_t{cells[d]} * p / ranks[d]); };
    box.first[d] = begin(place[d]);
    box.size[d] = begin(place[d] + 1) - box.first[d];
  }
  return box;
}

}  // namespace neve::apps
