// SPDX-License-Identifier: BSD-3-Clause
// Places in memory of the cells of a rectangle that is held without gaps, x fastest.
#pragma once

#include <array>
#include <cstdint>

#include "neve/frame.hpp"

namespace neve {

using Strides = std::array<int64_t, max_frame_dims>;

inline Strides dense_strides(const Extents& size) {
  return {1, size[0], size[0] * size[1], size[0] * size[1] * size[2]};
}

inline int64_t offset_of(const Extents& at, const Strides& stride) {
  return at[0] * stride[0] + at[1] * stride[1] + at[2] * stride[2] + at[3] * stride[3];
}

// A rectangle of the same cells in the same order, with rows as long as there is no gap in any of the
// memories that hold it by `strides`: a small box that is held without gaps is one row.
template <class... AllStrides>
Extents with_joined_rows(Extents size, const AllStrides&... strides) {
  for (size_t d = 1; d < max_frame_dims; ++d) {
    const bool follows = size[d] == 1 || ((strides[d] == size[0]) && ...);
    if (!follows) break;
    size[0] *= size[d];
    size[d] = 1;
  }
  return size;
}

}  // namespace neve
