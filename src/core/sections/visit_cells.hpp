// SPDX-License-Identifier: BSD-3-Clause
// Loops over the rows and pieces of a box of cells, in scan order: x is the fastest direction, w the slowest.
#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "core/sections/strides.hpp"
#include "neve/frame.hpp"

namespace neve {

// Calls visit(y, z, w) for each row of cells. A visit that gives false is the last one. Returns whether none
// did.
template <class Visit>
bool visit_rows(const Extents& size, const Visit& visit) {
  for (int64_t w = 0; w < size[3]; ++w) {
    for (int64_t z = 0; z < size[2]; ++z) {
      for (int64_t y = 0; y < size[1]; ++y) {
        if constexpr (std::is_void_v<std::invoke_result_t<Visit, int64_t, int64_t, int64_t>>) {
          visit(y, z, w);
        } else if (!visit(y, z, w)) {
          return false;
        }
      }
    }
  }
  return true;
}

// Calls visit(offset of the row's first cell) for each row of a rectangle among cells of `stride`.
template <class Visit>
void visit_row_begins(const Rect& rect, const Strides& stride, const Visit& visit) {
  const int64_t first = offset_of(rect.lo, stride);
  visit_rows(rect.size, [&](int64_t y, int64_t z, int64_t w) {
    visit(first + y * stride[1] + z * stride[2] + w * stride[3]);
  });
}

// Calls visit(rectangle) for each piece that a box of cells is cut into, those at its upper ends smaller.
template <class Visit>
void visit_pieces(const Extents& size, const Extents& piece, const Visit& visit) {
  Extents pieces{};
  for (size_t d = 0; d < max_frame_dims; ++d) pieces[d] = (size[d] + piece[d] - 1) / piece[d];
  visit_rows(pieces, [&](int64_t y, int64_t z, int64_t w) {
    for (int64_t x = 0; x < pieces[0]; ++x) {
      Rect rect{{x * piece[0], y * piece[1], z * piece[2], w * piece[3]}, piece};
      for (size_t d = 0; d < max_frame_dims; ++d) rect.size[d] = std::min(piece[d], size[d] - rect.lo[d]);
      visit(rect);
    }
  });
}

}  // namespace neve
