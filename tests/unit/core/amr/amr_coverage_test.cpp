// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <optional>
#include <random>
#include <set>

#include "core/amr/average_down.hpp"
#include "core/amr/coverage.hpp"

namespace neve::amr {
namespace {

using Cell = std::array<int64_t, 3>;

// Cells of the rectangles; fails on a cell held twice.
std::set<Cell> cells_of(const std::vector<Rect>& rects) {
  std::set<Cell> cells;
  for (const Rect& r : rects) {
    for (int64_t z = 0; z < r.size[2]; ++z) {
      for (int64_t y = 0; y < r.size[1]; ++y) {
        for (int64_t x = 0; x < r.size[0]; ++x) {
          EXPECT_TRUE(cells.insert({r.lo[0] + x, r.lo[1] + y, r.lo[2] + z}).second) << "rectangles overlap";
        }
      }
    }
  }
  return cells;
}

// Coarse cells whose fine cells are all in one of `fine`, counted cell by cell.
std::set<Cell> covered_slowly(const Box& coarse, const std::vector<Box>& fine, const IntVect& ratio) {
  std::set<Cell> cells;
  for (int z = coarse.lo[2]; z <= coarse.hi[2]; ++z) {
    for (int y = coarse.lo[1]; y <= coarse.hi[1]; ++y) {
      for (int x = coarse.lo[0]; x <= coarse.hi[0]; ++x) {
        const Box block = refine({{x, y, z}, {x, y, z}}, ratio);
        for (const Box& f : fine) {
          if (f.contains(block)) cells.insert({x - coarse.lo[0], y - coarse.lo[1], z - coarse.lo[2]});
        }
      }
    }
  }
  return cells;
}

TEST(Coverage, OfAlignedBoxes) {
  const Box coarse{{-4, 0, 0}, {7, 7, 7}};
  const std::vector<Box> fine{{{-8, 0, 0}, {-1, 7, 7}}, {{0, 0, 0}, {7, 7, 7}}, {{14, 14, 14}, {15, 15, 15}}};
  const std::vector<Rect> rects = covered_rects(coarse, BoxIndex(fine), {2, 2, 2});
  EXPECT_EQ(cells_of(rects), covered_slowly(coarse, fine, {2, 2, 2}));
  EXPECT_EQ(rects.size(), 2u) << "boxes that touch face to face are one rectangle";
}

TEST(Coverage, KeepsCellsThatUnalignedBoxesOnlyShare) {
  const Box coarse{{0, 0, 0}, {7, 3, 3}};
  // Coarse cells x = 2 and 3 are split between the two boxes: 5 is fine cell 1 of coarse cell 2.
  const std::vector<Box> fine{{{0, 0, 0}, {4, 7, 7}}, {{5, 0, 0}, {14, 7, 7}}};
  const std::vector<Rect> rects = covered_rects(coarse, BoxIndex(fine), {2, 2, 2});
  const std::set<Cell> cells = cells_of(rects);
  EXPECT_EQ(cells, covered_slowly(coarse, fine, {2, 2, 2}));
  EXPECT_TRUE(cells.count({1, 0, 0}));
  EXPECT_FALSE(cells.count({2, 0, 0}));
  EXPECT_TRUE(cells.count({6, 3, 3}));
  EXPECT_FALSE(cells.count({7, 0, 0}));
}

TEST(Coverage, OfBoxesThinnerThanARatioIsNone) {
  const std::vector<Box> fine{{{1, 0, 0}, {2, 7, 7}}};
  EXPECT_TRUE(covered_rects({{0, 0, 0}, {7, 7, 7}}, BoxIndex(fine), {2, 2, 2}).empty());
}

TEST(Coverage, OfRandomTilesIn2DAnd3D) {
  std::mt19937 random(5);
  for (const IntVect& ratio : {IntVect{2, 2, 2}, IntVect{4, 4, 4}, IntVect{2, 4, 1}, IntVect{2, 2, 1}}) {
    const bool is_2d = ratio == IntVect{2, 2, 1};
    for (int round = 0; round < 20; ++round) {
      std::vector<Box> fine;  // disjoint: each within its own tile
      for (int z = 0; z < (is_2d ? 1 : 3); ++z) {
        for (int y = 0; y < 3; ++y) {
          for (int x = -1; x < 2; ++x) {
            if (random() % 3 == 0) continue;
            const auto shrink = [&] { return static_cast<int>(random() % 2 * (random() % 3)); };
            Box b{{8 * x + shrink(), 8 * y + shrink(), is_2d ? 0 : 8 * z + shrink()},
                  {8 * x + 7 - shrink(), 8 * y + 7 - shrink(), is_2d ? 0 : 8 * z + 7 - shrink()}};
            fine.push_back(b);
          }
        }
      }
      const Box coarse{{-2, 1, 0}, {5, 9, is_2d ? 0 : 6}};
      EXPECT_EQ(cells_of(covered_rects(coarse, BoxIndex(fine), ratio)), covered_slowly(coarse, fine, ratio));
      for (const CoveredPart& part : covered_parts(coarse, BoxIndex(fine), ratio)) {
        EXPECT_TRUE(fine[static_cast<size_t>(part.fine_box)].contains(refine(part.cells, ratio)));
        EXPECT_TRUE(coarse.contains(part.cells));
      }
    }
  }
}

template <class T>
std::vector<T> averaged(DType dtype, const Box& region, const IntVect& ratio, const std::vector<T>& fine,
                        const Box& fine_box, const Box& out_box, T untouched) {
  std::vector<T> out(static_cast<size_t>(out_box.cells()), untouched);
  average_down(dtype, region, ratio, reinterpret_cast<const std::byte*>(fine.data()), fine_box,
               reinterpret_cast<std::byte*>(out.data()), out_box);
  return out;
}

TEST(AverageDown, AveragesBlocksAndLeavesTheRest) {
  const Box fine_box{{-2, 2, 0}, {3, 5, 1}};
  std::vector<double> fine(static_cast<size_t>(fine_box.cells()));
  for (size_t i = 0; i < fine.size(); ++i) fine[i] = static_cast<double>(i);
  const Box out_box{{-2, 0, 0}, {2, 3, 0}};
  const std::vector<double> out =
      averaged(DType::f64, {{0, 1, 0}, {1, 1, 0}}, {2, 2, 2}, fine, fine_box, out_box, -7.0);
  // Fine cells x 0..1, y 2..3, z 0..1 of rows of 6 in planes of 24: 2, 3, 8, 9, 26, 27, 32, 33.
  EXPECT_EQ(out[2 + 5 * 1], 17.5);
  EXPECT_EQ(out[3 + 5 * 1], 19.5);
  EXPECT_EQ(std::count(out.begin(), out.end(), -7.0), 18);
}

// Value by value, as average_down.hpp has it.
template <class T>
T plain_average(const std::vector<T>& fine, const Box& fine_box, const IntVect& ratio, const IntVect& cell) {
  std::optional<double> sum;
  for (int32_t z = 0; z < ratio[2]; ++z) {
    for (int32_t y = 0; y < ratio[1]; ++y) {
      for (int32_t x = 0; x < ratio[0]; ++x) {
        const int64_t at =
            (int64_t{cell[0]} * ratio[0] + x - fine_box.lo[0]) +
            fine_box.size(0) * ((int64_t{cell[1]} * ratio[1] + y - fine_box.lo[1]) +
                                fine_box.size(1) * (int64_t{cell[2]} * ratio[2] + z - fine_box.lo[2]));
        const auto value = static_cast<double>(fine[static_cast<size_t>(at)]);
        sum = sum ? *sum + value : value;
      }
    }
  }
  return static_cast<T>(*sum / static_cast<double>(ratio[0] * ratio[1] * ratio[2]));
}

template <class T>
void check_random_averages(DType dtype) {
  std::mt19937 random(5);
  for (int trial = 0; trial < 200; ++trial) {
    const auto below = [&](int n) { return static_cast<int32_t>(random() % static_cast<unsigned>(n)); };
    constexpr IntVect usual[] = {{2, 2, 2}, {2, 2, 1}, {4, 4, 4}, {2, 1, 1}, {3, 2, 4}};
    const IntVect ratio = usual[below(5)];
    Box region, fine_box, out_box;
    for (int d = 0; d < max_dims; ++d) {
      region.lo[d] = below(9) - 4;
      region.hi[d] = region.lo[d] + below(9);
      out_box.lo[d] = region.lo[d] - below(3);
      out_box.hi[d] = region.hi[d] + below(3);
      fine_box.lo[d] = region.lo[d] * ratio[d] - below(3);
      fine_box.hi[d] = (region.hi[d] + 1) * ratio[d] - 1 + below(3);
    }
    std::vector<T> fine(static_cast<size_t>(fine_box.cells()));
    for (T& value : fine) {
      value = random() % 8 == 0 ? -T{0} : static_cast<T>(static_cast<double>(random()) * 1e-3 - 2e6);
    }
    const std::vector<T> out = averaged(dtype, region, ratio, fine, fine_box, out_box, T{7});
    size_t at = 0;
    for (int32_t z = out_box.lo[2]; z <= out_box.hi[2]; ++z) {
      for (int32_t y = out_box.lo[1]; y <= out_box.hi[1]; ++y) {
        for (int32_t x = out_box.lo[0]; x <= out_box.hi[0]; ++x, ++at) {
          const bool is_averaged = region.contains({{x, y, z}, {x, y, z}});
          const T expected = is_averaged ? plain_average(fine, fine_box, ratio, {x, y, z}) : T{7};
          ASSERT_EQ(std::memcmp(&out[at], &expected, sizeof(T)), 0) << "trial " << trial;
        }
      }
    }
  }
}

TEST(AverageDown, OfRandomBoxesAsAPlainLoopDoes) {
  check_random_averages<float>(DType::f32);
  check_random_averages<double>(DType::f64);
}

TEST(AverageDown, SumsXFastestInDouble) {
  // (1e16 + 1) loses the 1, so the result tells the order of the sum.
  const Box box{{0, 0, 0}, {1, 1, 0}};
  const std::vector<double> fine{1e16, 1, -1e16, 1};
  const std::vector<double> out =
      averaged(DType::f64, {{0, 0, 0}, {0, 0, 0}}, {2, 2, 1}, fine, box, {{0, 0, 0}, {0, 0, 0}}, 0.0);
  EXPECT_EQ(out[0], ((1e16 + 1) + -1e16 + 1) / 4);
  const std::vector<float> small{1e8f, 1, -1e8f, 1};  // exact in double, not in float
  EXPECT_EQ(
      averaged(DType::f32, {{0, 0, 0}, {0, 0, 0}}, {2, 2, 1}, small, box, {{0, 0, 0}, {0, 0, 0}}, 0.0f)[0],
      0.5f);
}

TEST(AverageDown, PropagatesNanAndKeepsNegativeZero) {
  const Box box{{0, 0, 0}, {3, 0, 0}};
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const std::vector<float> out =
      averaged(DType::f32, {{0, 0, 0}, {1, 0, 0}}, {2, 1, 1}, std::vector<float>{1, nan, -0.0f, -0.0f}, box,
               {{0, 0, 0}, {1, 0, 0}}, 0.0f);
  EXPECT_TRUE(std::isnan(out[0]));
  EXPECT_EQ(out[1], 0.0f);
  EXPECT_TRUE(std::signbit(out[1]));
}

}  // namespace
}  // namespace neve::amr
