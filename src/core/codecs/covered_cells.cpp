// SPDX-License-Identifier: BSD-3-Clause
#include "core/codecs/covered_cells.hpp"

#include <algorithm>
#include <cstring>

#include "core/sections/tiling.hpp"
#include "core/sections/visit_cells.hpp"

namespace neve {

namespace {

// Nothing in common: false.
bool meet(const Rect& a, const Rect& b, Rect& common) {
  for (size_t d = 0; d < max_frame_dims; ++d) {
    common.lo[d] = std::max(a.lo[d], b.lo[d]);
    common.size[d] = std::min(a.lo[d] + a.size[d], b.lo[d] + b.size[d]) - common.lo[d];
    if (common.size[d] <= 0) return false;
  }
  return true;
}

}  // namespace

bool mark_covered(const Rect& covered, const Rect& rect, uint8_t* marks) {
  Rect common;
  if (!meet(covered, rect, common)) return false;
  for (size_t d = 0; d < max_frame_dims; ++d) common.lo[d] -= rect.lo[d];
  visit_row_begins(common, dense_strides(rect.size), [&](int64_t first) {
    std::memset(marks + first, 1, static_cast<size_t>(common.size[0]));
  });
  return true;
}

CoveredBits::CoveredBits(const BoxRecord& box, int64_t begin, int64_t end)
    : size_(box.place.size), begin_(begin), bits_(static_cast<size_t>(end - begin)) {
  const std::vector<Rect> ranges = rects_of_range(size_, begin, end);
  box.visit_covered([&](const Rect& covered) {
    for (const Rect& range : ranges) {
      Rect common;
      if (meet(covered, range, common)) set(common);
    }
  });
}

void CoveredBits::set(const Rect& rect) {
  visit_row_begins(rect, dense_strides(size_), [&](int64_t first) {
    const auto bit = bits_.begin() + (first - begin_);
    std::fill(bit, bit + rect.size[0], true);
  });
}

void CoveredBits::copy(const Rect& piece, uint8_t* marks) const {
  visit_row_begins(piece, dense_strides(size_), [&](int64_t first) {
    const auto bit = bits_.begin() + (first - begin_);
    marks = std::copy(bit, bit + piece.size[0], marks);
  });
}

}  // namespace neve
