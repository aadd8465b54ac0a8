// SPDX-License-Identifier: BSD-3-Clause
// What a codec sees of a section: rectangles of rows in memory, and which of their cells are left out.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <vector>

#include "core/sections/tiling.hpp"
#include "core/sections/visit_cells.hpp"
#include "neve/frame.hpp"

namespace neve {

// Values are float, double, or integers as unsigned words whatever their sign.
template <class T>
bool is_finite(T value) {
  if constexpr (std::is_floating_point_v<T>) {
    return std::isfinite(value);
  } else {
    return true;
  }
}

// A rectangle's place in memory, for one component. Element strides; rows (x) are contiguous.
template <class Pointer>
struct RectRows {
  Pointer first = nullptr;  // its first cell; null when a decoder only passes over it
  Extents size{1, 1, 1, 1};
  std::array<int64_t, max_frame_dims> stride{1, 0, 0, 0};
  // Per cell, x fastest, 1: left out; empty: all cells are held. Left-out cells have memory, but an encoder's
  // is undefined there: an arrangement may have put a hole.
  std::vector<uint8_t> left_out;

  // Of row number r in scan order; null where none of its cells is left out.
  const uint8_t* left_out_in_row(int64_t r) const {
    if (left_out.empty()) return nullptr;
    const uint8_t* row = left_out.data() + r * size[0];
    return std::memchr(row, 1, static_cast<size_t>(size[0])) == nullptr ? nullptr : row;
  }

  int64_t cells() const { return size[0] * size[1] * size[2] * size[3]; }
  int64_t rows() const { return size[1] * size[2] * size[3]; }
  Pointer row(int64_t y, int64_t z, int64_t w) const {
    return first + y * stride[1] + z * stride[2] + w * stride[3];
  }
  // Row number r in scan order.
  Pointer row(int64_t r) const {
    if (first == nullptr) return nullptr;
    const int64_t y = r % size[1];
    const int64_t z = r / size[1] % size[2];
    const int64_t w = r / (size[1] * size[2]);
    return row(y, z, w);
  }
};

// As visit_rows of a box of cells; visit(y, z, w, number of the row).
template <class Pointer, class Visit>
bool visit_rows(const RectRows<Pointer>& rect, const Visit& visit) {
  int64_t number = 0;
  return visit_rows(rect.size, [&](int64_t y, int64_t z, int64_t w) { return visit(y, z, w, number++); });
}

// Calls visit(begin, end, is_left_out) for each run of held or left-out cells of a row; `left_out` null: all
// cells are held.
template <class Visit>
void visit_runs(const uint8_t* left_out, size_t width, const Visit& visit) {
  if (left_out == nullptr) return visit(size_t{0}, width, false);
  for (size_t begin = 0; begin < width;) {
    const bool is_left_out = left_out[begin] != 0;
    const void* other = std::memchr(left_out + begin, is_left_out ? 0 : 1, width - begin);
    const size_t end =
        other == nullptr ? width : static_cast<size_t>(static_cast<const uint8_t*>(other) - left_out);
    visit(begin, end, is_left_out);
    begin = end;
  }
}

// What left-out cells of a nested region take from the next coarser level. Both are empty where none does.
template <class T>
struct NestedValues {
  std::vector<uint8_t> known;  // per cell of the region, x fastest, 1: `values` has it
  std::vector<T> values;
};

template <class T>
struct SectionSource {
  std::vector<RectRows<const T*>> rects;
  std::vector<NestedValues<T>> nested;  // of each rectangle; empty unless the section is nested
  uint64_t held = 0;                    // cells that are not left out
  bool wants_restored = false;          // what it decodes to, of codecs that have it at hand
};

template <class T>
struct SectionTarget {
  std::vector<RectRows<T*>> rects;
  std::vector<NestedValues<T>> nested;
  uint64_t held = 0;
};

}  // namespace neve
