// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <algorithm>

#include "core/amr/chunking.hpp"
#include "core/amr/morton.hpp"

namespace neve::amr {
namespace {

// Boxes of various sizes in a row.
Hierarchy row_of_boxes(const std::vector<int>& lengths) {
  Hierarchy h;
  h.components = {"a", "b"};
  h.levels.resize(1);
  int x = 0;
  for (int n : lengths) {
    h.levels[0].boxes.push_back({{x, 0, 0}, {x + n - 1, 3, 3}});
    x += n;
  }
  h.levels[0].domain = {{0, 0, 0}, {x - 1, 3, 3}};
  return h;
}

// What every chunking must hold, whatever the boxes.
void expect_consistent(const Hierarchy& h, const std::vector<int>& owner, uint64_t cap) {
  const Level& level = h.levels[0];
  const int components = static_cast<int>(h.components.size());
  const LevelChunks chunks = chunk_level(level, components, owner, cap);
  EXPECT_LE(chunks.chunk_elements, cap);
  uint64_t largest = 0;
  int last_owner = 0;
  std::vector<std::pair<uint64_t, uint64_t>> pieces;  // [begin, end) in the dataset
  std::vector<uint64_t> held(level.boxes.size(), 0);
  for (size_t c = 0; c < chunks.chunks.size(); ++c) {
    const Chunk& chunk = chunks.chunks[c];
    largest = std::max(largest, chunk.elements);
    EXPECT_GE(chunk.owner, last_owner);
    last_owner = chunk.owner;
    const FrameLayout layout = chunk_layout(h, 0, chunks, c, nullptr);
    EXPECT_EQ(layout.element_count, chunks.chunk_elements);
    EXPECT_EQ(layout.is_split, chunk.is_split);
    ASSERT_EQ(layout.boxes.size(), chunk.boxes.size());
    uint64_t offset = c * chunks.chunk_elements;
    for (size_t b = 0; b < chunk.boxes.size(); ++b) {
      const size_t i = static_cast<size_t>(chunk.boxes[b]);
      EXPECT_EQ(owner[i], chunk.owner);
      const uint64_t elements = static_cast<uint64_t>(level.boxes[i].cells() * components);
      EXPECT_EQ(static_cast<uint64_t>(layout.boxes[b].cells() * components), elements);
      if (chunk.is_split) {
        ASSERT_EQ(chunk.boxes.size(), 1u);
        EXPECT_EQ(chunks.box_offsets[i] + chunk.split_begin, offset) << "a split box stays contiguous";
        EXPECT_EQ(layout.split_begin, chunk.split_begin);
        EXPECT_EQ(layout.split_count, chunk.elements);
        held[i] += chunk.elements;
      } else {
        EXPECT_EQ(chunks.box_offsets[i], offset);
        EXPECT_EQ(chunks.box_first_chunk[i], c);
        offset += elements;
        held[i] += elements;
      }
    }
    if (!chunk.is_split) {
      EXPECT_EQ(offset - c * chunks.chunk_elements, chunk.elements);
    }
  }
  EXPECT_EQ(largest, chunks.chunk_elements);
  for (size_t i = 0; i < held.size(); ++i) {
    EXPECT_EQ(held[i], static_cast<uint64_t>(level.boxes[i].cells() * components)) << "box " << i;
  }
}

TEST(Chunking, GroupsNeighboursUpToTheCap) {
  const Hierarchy h = row_of_boxes({2, 2, 2, 2, 2});  // 64 elements each
  const std::vector<int> owner(5, 0);
  const LevelChunks chunks = chunk_level(h.levels[0], 2, owner, 150);
  ASSERT_EQ(chunks.chunks.size(), 3u);
  EXPECT_EQ(chunks.chunk_elements, 128u) << "no larger than the largest group";
  EXPECT_EQ(chunks.box_offsets, (std::vector<uint64_t>{0, 64, 128, 192, 256}));
}

TEST(Chunking, CutsABoxAboveTheCap) {
  const Hierarchy h = row_of_boxes({2, 10, 2});  // 64, 320, 64 elements
  const LevelChunks chunks = chunk_level(h.levels[0], 2, std::vector<int>(3, 0), 100);
  ASSERT_EQ(chunks.chunks.size(), 6u);
  EXPECT_EQ(chunks.chunk_elements, 100u);
  EXPECT_TRUE(chunks.chunks[1].is_split);
  EXPECT_EQ(chunks.chunks[4].split_begin, 300u);
  EXPECT_EQ(chunks.chunks[4].elements, 20u);
  EXPECT_EQ(chunks.box_offsets, (std::vector<uint64_t>{0, 100, 500}));
  EXPECT_EQ(chunks.dataset_elements(), 600u);
}

TEST(Chunking, HoldsEveryElementOnceForManyCapsAndRanks) {
  std::vector<int> lengths;
  for (int i = 0; i < 60; ++i) lengths.push_back(1 + (i * 7) % 13);
  const Hierarchy h = row_of_boxes(lengths);
  for (int ranks : {1, 2, 3, 7, 100}) {
    const std::vector<int> owner = distribute(h, ranks)[0];
    for (uint64_t cap :
         {uint64_t{1}, uint64_t{31}, uint64_t{64}, uint64_t{100}, uint64_t{1000}, uint64_t{1} << 40}) {
      expect_consistent(h, owner, cap);
    }
  }
}

TEST(Chunking, LayoutKnowsCoveredCells) {
  Hierarchy h = row_of_boxes({4, 4});
  h.levels.resize(2);
  h.levels[0].ref_ratio = {2, 2, 2};
  h.levels[1].domain = {{0, 0, 0}, {15, 7, 7}};
  h.levels[1].boxes = {{{4, 0, 0}, {11, 7, 7}}};
  const BoxIndex finer(h.levels[1].boxes);
  const LevelChunks chunks = chunk_level(h.levels[0], 2, std::vector<int>(2, 0), 1000);
  const FrameLayout layout = chunk_layout(h, 0, chunks, 0, &finer);
  ASSERT_EQ(layout.boxes.size(), 2u);
  EXPECT_EQ(layout.boxes[0].covered, (std::vector<Rect>{{{2, 0, 0, 0}, {2, 4, 4, 1}}}));
  EXPECT_EQ(layout.boxes[1].covered, (std::vector<Rect>{{{0, 0, 0, 0}, {2, 4, 4, 1}}}));
  EXPECT_EQ(layout.boxes[1].lo, (Extents{4, 0, 0, 0}));
}

// What every rank does for every level before it writes; a quadratic step would show as a timeout.
TEST(Chunking, CopesWithManyBoxes) {
  constexpr int n = 48;  // boxes per direction of the finer level
  Hierarchy h;
  h.components = {"a"};
  h.levels.resize(2);
  h.levels[0].domain = {{0, 0, 0}, {4 * n - 1, 4 * n - 1, 4 * n - 1}};
  h.levels[0].ref_ratio = {2, 2, 2};
  h.levels[1].domain = {{0, 0, 0}, {8 * n - 1, 8 * n - 1, 8 * n - 1}};
  for (int z = 0; z < n; ++z) {
    for (int y = 0; y < n; ++y) {
      for (int x = 0; x < n; ++x) {
        if (x % 4 == 0 && y % 4 == 0 && z % 4 == 0) {
          h.levels[0].boxes.push_back({{4 * x, 4 * y, 4 * z}, {4 * x + 15, 4 * y + 15, 4 * z + 15}});
        }
        h.levels[1].boxes.push_back({{8 * x, 8 * y, 8 * z}, {8 * x + 7, 8 * y + 7, 8 * z + 7}});
      }
    }
  }
  ASSERT_TRUE(check_hierarchy(h).ok()) << check_hierarchy(h).message();
  const std::vector<std::vector<int>> owner = distribute(h, 1000);
  const BoxIndex finer(h.levels[1].boxes);
  const LevelChunks coarse = chunk_level(h.levels[0], 1, owner[0], 1 << 20);
  for (size_t c = 0; c < coarse.chunks.size(); ++c) {
    for (const FrameBox& box : chunk_layout(h, 0, coarse, c, &finer).boxes) {
      EXPECT_EQ(box.covered, (std::vector<Rect>{{{0, 0, 0, 0}, {16, 16, 16, 1}}}))
          << "wholly covered, one rectangle";
    }
  }
  const LevelChunks fine = chunk_level(h.levels[1], 1, owner[1], 1 << 20);
  EXPECT_EQ(fine.chunks.size(), 1000u);
}

}  // namespace
}  // namespace neve::amr
