// SPDX-License-Identifier: BSD-3-Clause
// Index, Morton order and sharing of boxes, against the obvious slow answers.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>

#include "core/amr/box_index.hpp"
#include "core/amr/morton.hpp"

namespace neve::amr {
namespace {

std::vector<Box> random_boxes(int count, int seed) {
  std::mt19937 random(static_cast<uint32_t>(seed));
  const auto pick = [&](int lo, int hi) { return std::uniform_int_distribution<int>(lo, hi)(random); };
  std::vector<Box> boxes(static_cast<size_t>(count));
  for (Box& b : boxes) {
    for (int d = 0; d < max_dims; ++d) {
      b.lo[d] = pick(-100, 100);
      b.hi[d] = b.lo[d] + pick(0, pick(0, 9) == 0 ? 80 : 6);
    }
  }
  return boxes;
}

TEST(BoxIndex, FindsWhatASearchOfAllFinds) {
  const std::vector<Box> boxes = random_boxes(700, 1);
  const BoxIndex index(boxes);
  for (const Box& region : random_boxes(300, 2)) {
    std::vector<int> expected;
    for (size_t i = 0; i < boxes.size(); ++i) {
      if (!intersect(boxes[i], region).empty()) expected.push_back(static_cast<int>(i));
    }
    EXPECT_EQ(index.intersecting(region), expected);
  }
}

TEST(BoxIndex, OfNoBoxesFindsNothing) {
  EXPECT_TRUE(BoxIndex(std::vector<Box>{}).intersecting({{0, 0, 0}, {9, 9, 9}}).empty());
  EXPECT_EQ(BoxIndex().find_overlap().first, -1);
}

TEST(BoxIndex, NeighboursDoNotOverlapAndTwinsDo) {
  std::vector<Box> boxes{{{0, 0, 0}, {3, 3, 3}}, {{4, 0, 0}, {7, 3, 3}}, {{0, 4, 0}, {7, 7, 3}}};
  EXPECT_EQ(BoxIndex(boxes).find_overlap().first, -1);
  boxes.push_back(boxes[1]);
  const BoxIndex::Pair pair = BoxIndex(boxes).find_overlap();
  EXPECT_EQ(pair.first, 1);
  EXPECT_EQ(pair.second, 3);
}

// Interleaved bits, x least significant.
uint64_t morton_code(const Box& b, int offset) {
  uint64_t code = 0;
  for (int bit = 0; bit < 20; ++bit) {
    for (int d = 0; d < max_dims; ++d) {
      code |= ((static_cast<uint64_t>(b.lo[d] + offset) >> bit) & 1) << (3 * bit + d);
    }
  }
  return code;
}

TEST(Morton, OrdersByInterleavedBits) {
  std::vector<Box> boxes = random_boxes(500, 3);
  boxes.push_back({{-100, -100, -100}, {0, 0, 0}});  // so that codes are relative to -100
  const std::vector<int> order = morton_order(boxes);
  ASSERT_EQ(order.size(), boxes.size());
  for (size_t i = 1; i < order.size(); ++i) {
    EXPECT_LE(morton_code(boxes[static_cast<size_t>(order[i - 1])], 100),
              morton_code(boxes[static_cast<size_t>(order[i])], 100));
  }
}

Hierarchy grid_of_boxes(int per_direction, int box_cells) {
  Hierarchy h;
  h.components = {"a"};
  h.levels.resize(1);
  const int n = per_direction * box_cells;
  h.levels[0].domain = {{0, 0, 0}, {n - 1, n - 1, n - 1}};
  for (int z = 0; z < n; z += box_cells) {
    for (int y = 0; y < n; y += box_cells) {
      for (int x = 0; x < n; x += box_cells) {
        h.levels[0].boxes.push_back({{x, y, z}, {x + box_cells - 1, y + box_cells - 1, z + box_cells - 1}});
      }
    }
  }
  return h;
}

class Distribute : public testing::TestWithParam<int> {};

TEST_P(Distribute, GivesContiguousBalancedRuns) {
  const int ranks = GetParam();
  const Hierarchy h = grid_of_boxes(6, 4);
  const std::vector<int> owner = distribute(h, ranks)[0];
  ASSERT_EQ(owner.size(), h.levels[0].boxes.size());
  std::vector<int> boxes_of(static_cast<size_t>(ranks), 0);
  int last = 0;
  for (int i : morton_order(h.levels[0].boxes)) {
    const int rank = owner[static_cast<size_t>(i)];
    EXPECT_GE(rank, last) << "runs along the Morton order must be contiguous";
    ASSERT_LT(rank, ranks);
    last = rank;
    ++boxes_of[static_cast<size_t>(rank)];
  }
  const auto [fewest, most] = std::minmax_element(boxes_of.begin(), boxes_of.end());
  EXPECT_LE(*most - *fewest, 1) << "equal boxes";
}

INSTANTIATE_TEST_SUITE_P(Ranks, Distribute, testing::Values(1, 2, 3, 4, 7, 216, 500));

TEST(Distribute, WeighsBoxesByCells) {
  Hierarchy h = grid_of_boxes(1, 1);
  h.levels[0].boxes = {{{0, 0, 0}, {63, 63, 63}}};
  for (int i = 0; i < 64; ++i) h.levels[0].boxes.push_back({{64 + 16 * i, 0, 0}, {79 + 16 * i, 15, 15}});
  const std::vector<int> owner = distribute(h, 2)[0];
  std::array<int64_t, 2> cells{0, 0};
  for (size_t i = 0; i < owner.size(); ++i) {
    cells[static_cast<size_t>(owner[i])] += h.levels[0].boxes[i].cells();
  }
  EXPECT_EQ(cells[0], cells[1]);
}

}  // namespace
}  // namespace neve::amr
