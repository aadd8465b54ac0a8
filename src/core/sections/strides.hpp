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

}  // namespace neve
