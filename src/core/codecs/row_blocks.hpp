// SPDX-License-Identifier: BSD-3-Clause
// The rows of a rectangle as the kernels take them: several at once, with the rows that predict them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "core/codecs/quant_code_planes.hpp"
#include "core/kernels/row_kernels.hpp"
#include "core/sections/section_data.hpp"

namespace neve {

// The first row of a rectangle has nothing before it in the differenced directions: it is differenced along x
// even when the others are not.
inline bool is_along_x(uint8_t axes, int64_t y, int64_t z, int64_t w) {
  if ((axes & 1) != 0 || axes == 0) return (axes & 1) != 0;
  const bool behind = ((axes & 2) != 0 && y > 0) || ((axes & 4) != 0 && z > 0) || ((axes & 8) != 0 && w > 0);
  return !behind;
}

// The rows from cell x on.
inline NeighbourRows shifted(NeighbourRows around, size_t x) {
  for (int k = 0; k < around.count; ++k) around.rows[k] += x;
  return around;
}

template <class Visit>
void visit_planes(const Extents& size, const Visit& visit) {
  for (int64_t w = 0; w < size[3]; ++w) {
    for (int64_t z = 0; z < size[2]; ++z) visit(z, w);
  }
}

// The rows from (y, z, w) on that a kernel may take at once, `most` or one at most; before `planes` is asked
// for others.
template <class Pointer>
auto rows_of(const RectRows<Pointer>& rect, QuantCodePlanes& planes, uint8_t axes, int64_t y, int64_t z,
             int64_t w, uint64_t most) {
  RowBlock<std::remove_pointer_t<Pointer>> block;
  block.values = rect.row(y, z, w);
  block.value_stride = rect.stride[1];
  block.width = static_cast<size_t>(rect.size[0]);
  block.rows =
      static_cast<size_t>(std::clamp<uint64_t>(most, 1, static_cast<uint64_t>(planes.rows_alike(y))));
  block.quant_codes = planes.row(y, z, w);
  block.code_stride = planes.stride();
  block.around = &planes.neighbours(y, z, w);
  block.around_strides = &planes.strides();
  block.along_x = is_along_x(axes, y, z, w);
  return block;
}

}  // namespace neve
