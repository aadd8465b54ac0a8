// SPDX-License-Identifier: BSD-3-Clause
// What a codec sees of a section: rectangles of rows in memory, and which of their cells are left out.
#pragma once

#include <cstdint>
#include <vector>

#include "format/tiling.hpp"
#include "neve/frame.hpp"

namespace neve {

// A rectangle's place in memory, for one component. Element strides; rows (x) are contiguous.
template <class Pointer>
struct RectRows {
  Pointer first = nullptr;  // its first cell; null when a decoder only passes over it
  Extents size{1, 1, 1, 1};
  std::array<int64_t, max_frame_dims> stride{1, 0, 0, 0};
  std::vector<uint8_t> left_out;  // per cell, x fastest; empty: all cells are held

  int64_t cells() const { return size[0] * size[1] * size[2] * size[3]; }
  int64_t rows() const { return size[1] * size[2] * size[3]; }
  // Row number r in scan order.
  Pointer row(int64_t r) const {
    if (first == nullptr) return nullptr;
    const int64_t y = r % size[1];
    const int64_t z = r / size[1] % size[2];
    const int64_t w = r / (size[1] * size[2]);
    return first + y * stride[1] + z * stride[2] + w * stride[3];
  }
};

template <class T>
struct SectionSource {
  std::vector<RectRows<const T*>> rects;
  uint64_t held = 0;  // cells that are not left out
};

template <class T>
struct SectionTarget {
  std::vector<RectRows<T*>> rects;
  uint64_t held = 0;
};

}  // namespace neve
