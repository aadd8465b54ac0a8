// SPDX-License-Identifier: BSD-3-Clause
// Which cells the covered rectangles of a box hold: as bytes of a rectangle, and as bits of a long range of
// cells that is asked for piece by piece.
#pragma once

#include <cstdint>
#include <vector>

#include "core/format/box_table.hpp"
#include "neve/frame.hpp"

namespace neve {

// Sets the bytes of `marks` (of the rectangle's cells, x fastest) that `covered` holds, both relative to
// their box. False: it holds none of them.
bool mark_covered(const Rect& covered, const Rect& rect, uint8_t* marks);

// Of cells [begin, end) of a box, x fastest. Takes a bit for each, whatever the number of rectangles.
class CoveredBits {
 public:
  CoveredBits(const BoxRecord& box, int64_t begin, int64_t end);

  // The bytes of a piece of the box that lies in the range.
  void copy(const Rect& piece, uint8_t* marks) const;

 private:
  void set(const Rect& rect);

  Extents size_;
  int64_t begin_;
  std::vector<bool> bits_;
};

}  // namespace neve
