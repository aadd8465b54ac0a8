// SPDX-License-Identifier: BSD-3-Clause
// What lossless methods are given of a section with holes, whose memory holds whatever was there before.
#include <gtest/gtest.h>

#include <bit>
#include <random>
#include <vector>

#include "core/codecs/lossless_encode.hpp"

namespace neve {
namespace {

TEST(LosslessGather, LeftOutCellsAreZeroWhateverTheirMemoryHolds) {
  std::mt19937 random(4);
  std::vector<double> memory(300);
  for (double& value : memory) value = static_cast<double>(random());
  SectionSource<double> source;
  for (int64_t r = 0; r < 3; ++r) {
    RectRows<const double*> rows;
    rows.size = {5, 4, 3, 1};
    rows.stride = {1, 6, 24, 72};
    rows.first = memory.data() + 80 * r;
    if (r != 1) {
      for (int64_t cell = 0; cell < rows.cells(); ++cell) rows.left_out.push_back(random() % 3 == 0 ? 1 : 0);
    }
    for (int64_t cell = 0; cell < rows.cells(); ++cell)
      source.held += rows.left_out.empty() || rows.left_out[static_cast<size_t>(cell)] == 0 ? 1 : 0;
    source.rects.push_back(rows);
  }
  const LosslessCells<double> cells = gather<double>(source, ComponentSpec{});
  size_t at = 0;
  for (const auto& rows : source.rects) {
    for (int64_t cell = 0; cell < rows.cells(); ++cell, ++at) {
      const double value = rows.row(cell / 5)[cell % 5];
      const bool is_left_out = !rows.left_out.empty() && rows.left_out[static_cast<size_t>(cell)] != 0;
      EXPECT_EQ(cells.bits[at], is_left_out ? 0 : std::bit_cast<uint64_t>(value)) << at;
    }
  }
}

}  // namespace
}  // namespace neve
