// SPDX-License-Identifier: BSD-3-Clause
// One component of a rectangle of cells, out of a box held with any strides.
#pragma once

#include <cstddef>

#include "core/sections/copy_cells.hpp"
#include "neve/box.hpp"
#include "neve/frame.hpp"
#include "parallel/write/plan.hpp"

namespace neve::mpi {

// Calls row(y, z, pointer to the values of the cells from region.lo[0] on) for each row of `region`, which
// lies in `box`, whose values `data` holds.
template <class Row>
void for_each_row(const Box& region, const Box& box, const BoxData& data, int component, size_t value_bytes,
                  Row&& row) {
  const auto* base = static_cast<const std::byte*>(data.data);
  for (int64_t z = region.lo[2]; z <= region.hi[2]; ++z) {
    for (int64_t y = region.lo[1]; y <= region.hi[1]; ++y) {
      const int64_t at = data.component_begin(component) + (region.lo[0] - box.lo[0]) +
                         (y - box.lo[1]) * data.stride[1] + (z - box.lo[2]) * data.stride[2];
      row(y, z, base + at * static_cast<int64_t>(value_bytes));
    }
  }
}

// The cells of `region` into `out`, x fastest, without gaps.
inline void gather_region(const Box& region, const Box& box, const BoxData& data, int component,
                          size_t value_bytes, std::byte* out) {
  const Extents size = plain_frame_box(region).size;
  const Extents at{region.lo[0] - box.lo[0], region.lo[1] - box.lo[1], region.lo[2] - box.lo[2], 0};
  const int64_t first = data.component_begin(component) + offset_of(at, data.stride);
  copy_cells(static_cast<const std::byte*>(data.data) + first * static_cast<int64_t>(value_bytes),
             data.stride, out, dense_strides(size), size, value_bytes);
}

}  // namespace neve::mpi
