// SPDX-License-Identifier: BSD-3-Clause
// A piece from the middle of a section, that a codec can try itself on.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/sections/section_data.hpp"

namespace neve {

// Layers from the middle of a rectangle, along its slowest dimension, that have so many cells or a few more.
template <class T>
RectRows<const T*> middle_layers(const RectRows<const T*>& rect, int64_t cells) {
  size_t d = max_frame_dims - 1;
  while (d > 0 && rect.size[d] == 1) --d;
  const int64_t layer = rect.cells() / rect.size[d];
  const int64_t count = std::clamp<int64_t>((cells + layer - 1) / layer, 1, rect.size[d]);
  const int64_t begin = (rect.size[d] - count) / 2;
  RectRows<const T*> part;
  part.first = rect.first + begin * rect.stride[d];
  part.size = rect.size;
  part.size[d] = count;
  part.stride = rect.stride;
  if (!rect.left_out.empty()) {
    const auto from = rect.left_out.begin() + begin * layer;
    part.left_out.assign(from, from + count * layer);
  }
  return part;
}

// Rectangles one after another from the middle of the section on, whole but for those that are larger than
// what is left of about so many cells.
template <class T>
SectionSource<T> middle_part(const SectionSource<T>& source, int64_t cells) {
  int64_t total = 0, passed = 0;
  for (const auto& rect : source.rects) total += rect.cells();
  const int64_t begin = (total - std::min(total, cells)) / 2;
  SectionSource<T> part;
  for (const auto& rect : source.rects) {
    passed += rect.cells();
    if (passed <= begin || rect.cells() == 0) continue;
    if (cells <= 0) break;
    RectRows<const T*> piece = middle_layers(rect, cells);
    cells -= piece.cells();
    part.held += static_cast<uint64_t>(piece.cells() -
                                       std::count(piece.left_out.begin(), piece.left_out.end(), uint8_t{1}));
    part.rects.push_back(std::move(piece));
  }
  return part;
}

}  // namespace neve
