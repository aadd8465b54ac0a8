// SPDX-License-Identifier: BSD-3-Clause
// Cells copied between memories of any strides, and ranges of values held with any strides, against plain
// loops.
#include "core/sections/copy_cells.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

namespace neve {
namespace {

// A memory that holds a box with gaps between its rows and layers, or without.
struct Memory {
  Strides stride{1, 0, 0, 0};
  size_t values = 0;
};

Memory random_memory(const Extents& size, std::mt19937& random) {
  Memory memory;
  int64_t held = size[0];
  for (size_t d = 1; d < max_frame_dims; ++d) {
    memory.stride[d] = held + (random() % 2 == 0 ? 0 : static_cast<int64_t>(random() % 5));
    held = memory.stride[d] * size[d];
  }
  memory.values = static_cast<size_t>(held);
  return memory;
}

Extents random_size(std::mt19937& random) {
  const auto side = [&](int64_t most) { return 1 + static_cast<int64_t>(random() % most); };
  constexpr int64_t usual_rows[] = {4, 8, 16, 32};
  const int64_t width = random() % 2 == 0 ? usual_rows[random() % 4] : side(40);
  return {width, side(9), side(6), side(3)};
}

template <class Visit>
void for_each_cell(const Extents& size, const Visit& visit) {
  for (int64_t w = 0; w < size[3]; ++w)
    for (int64_t z = 0; z < size[2]; ++z)
      for (int64_t y = 0; y < size[1]; ++y)
        for (int64_t x = 0; x < size[0]; ++x) visit(Extents{x, y, z, w});
}

template <class T>
void check_copies() {
  std::mt19937 random(7);
  for (int trial = 0; trial < 300; ++trial) {
    const Extents size = random_size(random);
    const Memory from = random_memory(size, random);
    const Memory to = random_memory(size, random);
    std::vector<T> values(from.values);
    for (T& value : values) value = static_cast<T>(random());
    std::vector<T> copied(to.values, T{3});
    std::vector<T> expected = copied;
    for_each_cell(size, [&](const Extents& at) {
      expected[static_cast<size_t>(offset_of(at, to.stride))] =
          values[static_cast<size_t>(offset_of(at, from.stride))];
    });
    copy_cells(values.data(), from.stride, copied.data(), to.stride, size);
    ASSERT_EQ(copied, expected) << "trial " << trial;
  }
}

TEST(CopyCells, OfAnyStridesAsAPlainLoopDoes) {
  check_copies<uint8_t>();
  check_copies<float>();
  check_copies<double>();
}

TEST(CopyCells, RowsAreJoinedOnlyWhereNothingLiesBetweenThem) {
  EXPECT_EQ(with_joined_rows({8, 8, 8, 1}, Strides{1, 8, 64, 512}), (Extents{512, 1, 1, 1}));
  EXPECT_EQ(with_joined_rows({8, 8, 8, 1}, Strides{1, 8, 80, 640}), (Extents{64, 1, 8, 1}));
  EXPECT_EQ(with_joined_rows({8, 8, 8, 1}, Strides{1, 10, 80, 640}), (Extents{8, 8, 8, 1}));
  EXPECT_EQ(with_joined_rows({8, 1, 8, 2}, Strides{1, 99, 8, 64}), (Extents{128, 1, 1, 1}));
  EXPECT_EQ(with_joined_rows({8, 8, 8, 1}, Strides{1, 8, 64, 512}, Strides{1, 8, 100, 800}),
            (Extents{64, 1, 8, 1}));
}

TEST(RangeOfBox, OfAnyStridesAsAPlainLoopFindsIt) {
  std::mt19937 random(11);
  const double specials[] = {std::nan(""), HUGE_VAL, -HUGE_VAL, -0.0, 1e30};
  for (int trial = 0; trial < 300; ++trial) {
    FrameBox box;
    box.size = random_size(random);
    const Memory memory = random_memory(box.size, random);
    // What lies in the gaps is out of every range.
    std::vector<double> values(memory.values, 1e9);
    ValueRange expected;
    for_each_cell(box.size, [&](const Extents& at) {
      double& value = values[static_cast<size_t>(offset_of(at, memory.stride))];
      const bool is_special = random() % 50 == 0;
      value = is_special ? specials[random() % 5] : static_cast<double>(random() % 1000) - 400;
      if (std::isfinite(value) && value != 1e30) expected.merge({value, value, false});
    });
    const BoxData data{values.data(), static_cast<int64_t>(memory.values), memory.stride, nullptr};
    const Result<ValueRange> range = scan_range(DType::f64, box, data, 0, 1e30);
    ASSERT_TRUE(range.ok());
    ASSERT_EQ(range->empty, expected.empty) << "trial " << trial;
    EXPECT_EQ(range->min, expected.min) << "trial " << trial;
    EXPECT_EQ(range->max, expected.max) << "trial " << trial;
  }
}

}  // namespace
}  // namespace neve
