// SPDX-License-Identifier: BSD-3-Clause
// Cells of a rectangle from memory with some strides to memory with others.
#pragma once

#include <cstddef>

#include "core/sections/strides.hpp"
#include "neve/frame.hpp"

namespace neve {

// Copies `size` cells of `value_bytes` each. `from` and `to` are the places of the first cell; the memories
// do not overlap, and rows (x) are contiguous in both. Strides are in cells. `next`: the first cell of what
// will be copied after it, with strides like these, if it is known; it is fetched meanwhile, since small
// boxes end before a processor sees where they go on.
void copy_cells(const std::byte* from, const Strides& from_stride, std::byte* to, const Strides& to_stride,
                const Extents& size, size_t value_bytes, const std::byte* next = nullptr);

template <class T>
void copy_cells(const T* from, const Strides& from_stride, T* to, const Strides& to_stride,
                const Extents& size, const T* next = nullptr) {
  copy_cells(reinterpret_cast<const std::byte*>(from), from_stride, reinterpret_cast<std::byte*>(to),
             to_stride, size, sizeof(T), reinterpret_cast<const std::byte*>(next));
}

}  // namespace neve
