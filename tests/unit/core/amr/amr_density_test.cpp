// SPDX-License-Identifier: BSD-3-Clause
// Densities of levels, against grids on which every box is painted cell by cell.
#include <gtest/gtest.h>

#include <chrono>
#include <random>
#include <set>
#include <vector>

#include "core/amr/density.hpp"

namespace neve::amr {
namespace {

// A grid of a domain with a number for each cell.
class Painted {
 public:
  explicit Painted(const Box& domain) : domain_(domain), cells_(static_cast<size_t>(domain.cells())) {}

  int& at(int x, int y, int z) {
    const int64_t place =
        ((int64_t{z} - domain_.lo[2]) * domain_.size(1) + y - domain_.lo[1]) * domain_.size(0) + x -
        domain_.lo[0];
    return cells_.at(static_cast<size_t>(place));
  }
  template <class Visit>
  static void visit(const Box& box, const Visit& visit_cell) {
    for (int z = box.lo[2]; z <= box.hi[2]; ++z) {
      for (int y = box.lo[1]; y <= box.hi[1]; ++y) {
        for (int x = box.lo[0]; x <= box.hi[0]; ++x) visit_cell(x, y, z);
      }
    }
  }
  // Each box has a number of its own, from 1; 0 is none.
  void paint(const std::vector<Box>& boxes) {
    int number = 0;
    for (const Box& box : boxes) {
      ++number;
      visit(box, [&](int x, int y, int z) { at(x, y, z) = number; });
    }
  }

 private:
  Box domain_;
  std::vector<int> cells_;
};

// Cell by cell: what boxes hold, and what of it is not wholly inside one box of the finer level.
std::vector<std::pair<int64_t, int64_t>> held_and_uncovered(const Hierarchy& h) {
  std::vector<std::pair<int64_t, int64_t>> counts;
  for (size_t l = 0; l < h.levels.size(); ++l) {
    const Level& level = h.levels[l];
    const bool is_finest = l + 1 == h.levels.size();
    Painted own(level.domain), finer(is_finest ? level.domain : h.levels[l + 1].domain);
    own.paint(level.boxes);
    if (!is_finest) finer.paint(h.levels[l + 1].boxes);
    int64_t held = 0, uncovered = 0;
    Painted::visit(level.domain, [&](int x, int y, int z) {
      if (own.at(x, y, z) == 0) return;
      ++held;
      std::set<int> fine;
      if (!is_finest) {
        Painted::visit(refine({{x, y, z}, {x, y, z}}, level.ref_ratio),
                       [&](int i, int j, int k) { fine.insert(finer.at(i, j, k)); });
      }
      uncovered += fine.size() == 1 && *fine.begin() > 0 ? 0 : 1;
    });
    counts.emplace_back(held, uncovered);
  }
  return counts;
}

void expect_as_painted(const Hierarchy& h) {
  ASSERT_TRUE(check_hierarchy(h).ok()) << check_hierarchy(h).message();
  const auto densities = level_densities(h);
  const auto counts = held_and_uncovered(h);
  ASSERT_EQ(densities.size(), h.levels.size());
  for (size_t l = 0; l < counts.size(); ++l) {
    const auto domain = static_cast<double>(h.levels[l].domain.cells());
    EXPECT_EQ(densities[l].fills, static_cast<double>(counts[l].first) / domain) << l;
    ASSERT_TRUE(densities[l].density);
    EXPECT_EQ(*densities[l].density, static_cast<double>(counts[l].second) / domain) << l;
  }
}

// A domain of `size` cells and the levels' domains after it.
Hierarchy domains_of(int dims, const Box& domain, const std::vector<IntVect>& ratios) {
  Hierarchy h;
  h.dims = dims;
  h.components = {"density"};
  Level level;
  level.domain = domain;
  for (const IntVect& ratio : ratios) {
    level.ref_ratio = ratio;
    h.levels.push_back(level);
    level.domain = refine(level.domain, ratio);
  }
  level.ref_ratio = {1, 1, 1};
  h.levels.push_back(level);
  return h;
}

// Disjoint boxes: some of the pieces into which random cuts divide the domain.
std::vector<Box> random_boxes(const Box& domain, int dims, std::mt19937& random, int step) {
  std::vector<Box> pieces{domain};
  for (int cut = 0; cut < 12; ++cut) {
    Box& piece = pieces[random() % pieces.size()];
    const auto d = random() % static_cast<unsigned>(dims);
    const auto places = piece.size(static_cast<int>(d)) / step;
    if (places < 2) continue;
    const auto at = static_cast<int32_t>(step * (1 + random() % static_cast<unsigned>(places - 1)));
    Box upper = piece;
    upper.lo[d] = piece.lo[d] + at;
    piece.hi[d] = upper.lo[d] - 1;
    pieces.push_back(upper);
  }
  std::vector<Box> kept;
  for (const Box& piece : pieces) {
    if (random() % 2 == 0) kept.push_back(piece);
  }
  if (kept.empty()) kept.push_back(pieces.front());
  return kept;
}

TEST(Density, OfRandomBoxesAsPainted) {
  std::mt19937 random(3);
  for (const auto& [dims, ratio] : {std::pair<int, IntVect>{3, {2, 2, 2}},
                                    {3, {4, 4, 4}},
                                    {3, {2, 4, 1}},
                                    {2, {2, 2, 1}},
                                    {2, {4, 4, 1}},
                                    {1, {2, 1, 1}}}) {
    Box domain{{-3, 2, 5}, {8, 11, 12}};
    for (int d = dims; d < max_dims; ++d) domain.lo[d] = domain.hi[d] = 0;
    for (const int step : {1, 2, 4}) {  // 1: boxes that are not aligned to the ratio
      for (int round = 0; round < 8; ++round) {
        Hierarchy h = domains_of(dims, domain, {ratio, {2, dims > 1 ? 2 : 1, 1}});
        for (Level& level : h.levels) level.boxes = random_boxes(level.domain, dims, random, step);
        SCOPED_TRACE(std::to_string(dims) + "D, step " + std::to_string(step));
        expect_as_painted(h);
      }
    }
  }
}

TEST(Density, OfNestedLevelsAddsUpToWhatLevelZeroFills) {
  Hierarchy h = domains_of(3, {{0, 0, 0}, {15, 15, 15}}, {{2, 2, 2}, {4, 4, 4}});
  h.levels[0].boxes = {{{0, 0, 0}, {7, 15, 15}}, {{8, 0, 0}, {15, 15, 15}}};
  h.levels[1].boxes = {{{8, 8, 8}, {23, 23, 15}}, {{8, 8, 16}, {23, 15, 23}}};
  h.levels[2].boxes = {{{40, 40, 40}, {63, 63, 63}}};
  expect_as_painted(h);
  double sum = 0;
  for (const LevelDensity& of : level_densities(h)) sum += of.density.value();
  EXPECT_DOUBLE_EQ(sum, 1);
}

// Columns across rows: every one meets every other.
TEST(Density, IsUnknownWhereTooManyBoxesMeet) {
  constexpr int boxes = 2000;
  Hierarchy h = domains_of(2, {{0, 0, 0}, {2 * boxes - 1, 2 * boxes - 1, 0}}, {{2, 2, 1}});
  for (int i = 0; i < boxes; ++i) {
    h.levels[0].boxes.push_back({{2 * i, 0, 0}, {2 * i, 2 * boxes - 1, 0}});
    h.levels[1].boxes.push_back({{0, 4 * i, 0}, {4 * boxes - 1, 4 * i + 1, 0}});
  }
  ASSERT_TRUE(check_hierarchy(h).ok()) << check_hierarchy(h).message();
  EXPECT_LT(max_meeting_pairs(h.levels[0], h.levels[1]), uint64_t{boxes} * boxes);
  const auto densities = level_densities(h);
  EXPECT_EQ(densities[0].fills, 0.5);
  EXPECT_FALSE(densities[0].density);
  EXPECT_EQ(densities[1].density, 0.5);
}

TEST(Density, OfAHundredThousandBoxesIsQuick) {
  Hierarchy h = domains_of(3, {{0, 0, 0}, {383, 383, 383}}, {{2, 2, 2}});
  const auto fill = [](Level& level, int side) {
    for (int z = 0; z < 48; ++z) {
      for (int y = 0; y < 48; ++y) {
        for (int x = 0; x < 48; ++x) {
          level.boxes.push_back({{x * side, y * side, z * side},
                                 {x * side + side - 1, y * side + side - 1, z * side + side - 1}});
        }
      }
    }
  };
  fill(h.levels[0], 8);
  fill(h.levels[1], 16);
  h.levels[1].boxes.resize(h.levels[1].boxes.size() / 2);
  ASSERT_GT(h.levels[0].boxes.size(), 100'000U);
  const auto start = std::chrono::steady_clock::now();
  const auto densities = level_densities(h);
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  EXPECT_LT(seconds.count(), 5) << "sanitizers and busy machines among what this allows for";
  EXPECT_EQ(densities[0].density, 0.5);
  EXPECT_EQ(densities[1].density, 0.5);
}

}  // namespace
}  // namespace neve::amr
