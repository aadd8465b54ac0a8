// SPDX-License-Identifier: BSD-3-Clause
// Everything a plotfile's reader can be asked, of a file that may claim to be large.
#pragma once

#include <initializer_list>

#include "neve/hierarchy.hpp"
#include "tests/fuzz/support/codes.hpp"

namespace neve::fuzz {

// Reads the boxes of each component with what they leave out, until they come to a few megabytes. `allowed`:
// the codes that a refusal may have.
inline void read_all_boxes(PlotfileSource& source, std::initializer_list<Code> allowed) {
  constexpr uint64_t max_bytes = uint64_t{8} << 20;
  constexpr int max_reads = 2000;
  const Hierarchy& h = source.hierarchy();
  uint64_t bytes = 0;
  int reads = 0;
  std::vector<std::byte> values;
  for (int c = 0; c < static_cast<int>(h.components.size()); ++c) {
    for (int l = 0; l < static_cast<int>(h.levels.size()); ++l) {
      const auto& boxes = h.levels[static_cast<size_t>(l)].boxes;
      for (int b = 0; b < static_cast<int>(boxes.size()); ++b) {
        const auto box_bytes =
            static_cast<uint64_t>(boxes[static_cast<size_t>(b)].cells()) * dtype_bytes(h.dtype);
        if (box_bytes > max_bytes) continue;
        if ((bytes += box_bytes) > max_bytes || ++reads > max_reads) return;
        values.resize(box_bytes);
        require_code(source.read_box(l, b, c, values.data()), allowed);
        require_code(source.left_out(l, b, c).status(), allowed);
      }
    }
  }
  (void)source.left_behind();
}

}  // namespace neve::fuzz
