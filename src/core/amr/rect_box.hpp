// SPDX-License-Identifier: BSD-3-Clause
// Rectangles of frames, whose places have 64 bits, as boxes of a level, whose have 32; and rows of cells that
// two of either kind share.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "neve/box.hpp"
#include "neve/frame.hpp"

namespace neve::amr {

// The part of a rectangle where boxes of a level can lie; empty where none can.
inline Box box_of(const Rect& rect) {
  constexpr int64_t least = std::numeric_limits<int32_t>::min();
  constexpr int64_t most = std::numeric_limits<int32_t>::max();
  Box box;
  for (int d = 0; d < max_dims; ++d) {
    const int64_t lo = rect.lo[static_cast<size_t>(d)];
    const int64_t hi = lo + rect.size[static_cast<size_t>(d)] - 1;
    if (lo > most || hi < least) return {{0, 0, 0}, {-1, -1, -1}};
    box.lo[d] = static_cast<int32_t>(std::max(lo, least));
    box.hi[d] = static_cast<int32_t>(std::min(hi, most));
  }
  return box;
}

// Number of a cell in a box, x fastest; in a rectangle of three directions.
inline int64_t cell_number(const Box& box, int64_t x, int64_t y, int64_t z) {
  return (x - box.lo[0]) + box.size(0) * ((y - box.lo[1]) + box.size(1) * (z - box.lo[2]));
}
inline int64_t cell_number(const Rect& rect, int64_t x, int64_t y, int64_t z) {
  return (x - rect.lo[0]) + rect.size[0] * ((y - rect.lo[1]) + rect.size[1] * (z - rect.lo[2]));
}

// Calls row(number of its first cell in `from`, in `to`, cells) for each row of `common`, which both hold.
template <class From, class To, class Row>
void for_each_common_row(const Box& common, const From& from, const To& to, Row&& row) {
  for (int64_t z = common.lo[2]; z <= common.hi[2]; ++z) {
    for (int64_t y = common.lo[1]; y <= common.hi[1]; ++y) {
      row(static_cast<size_t>(cell_number(from, common.lo[0], y, z)),
          static_cast<size_t>(cell_number(to, common.lo[0], y, z)), static_cast<size_t>(common.size(0)));
    }
  }
}

}  // namespace neve::amr
