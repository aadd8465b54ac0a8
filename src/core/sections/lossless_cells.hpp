// SPDX-License-Identifier: BSD-3-Clause
// A section as words in memory of their own, rectangle after rectangle: what lossless methods weigh and code.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/bits/ordered_words.hpp"
#include "core/sections/section_data.hpp"
#include "core/threads/scratch.hpp"

namespace neve {

struct LosslessGrid {
  Extents size{1, 1, 1, 1};
  size_t offset = 0;  // of its first cell among all

  size_t cells() const { return static_cast<size_t>(size[0] * size[1] * size[2] * size[3]); }
};

template <class T>
struct LosslessCells {
  std::vector<LosslessGrid> grids;
  RawVector<WordOf<T>> bits;      // of all cells; 0 where left out
  std::vector<uint8_t> left_out;  // empty: none
  std::vector<uint8_t> is_fill;   // empty: none
  uint64_t held = 0;              // not left out
  uint64_t coded = 0;             // nor fill

  bool is_held(size_t cell) const { return left_out.empty() || left_out[cell] == 0; }
  bool is_coded(size_t cell) const { return is_held(cell) && (is_fill.empty() || is_fill[cell] == 0); }
};

}  // namespace neve
