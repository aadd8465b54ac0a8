// SPDX-License-Identifier: BSD-3-Clause
// The arithmetic of chunks, and jobs in order over threads.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>

#include "io/datafile/chunk_grid.hpp"
#include "io/datafile/ordered_work.hpp"

namespace neve::datafile {
namespace {

constexpr uint64_t mib = uint64_t{1} << 20;

TEST(ChunkGrid, CoversEveryElementOnce) {
  const ChunkGrid grid{{5, 7, 3}, {2, 3, 3}};
  std::vector<int> seen(5 * 7 * 3, 0);
  for (uint64_t number = 0; number < grid.count(); ++number) {
    const Extent first = grid.first_element(number);
    const Extent held = grid.held(first);
    for (uint64_t z = 0; z < held[0]; ++z) {
      for (uint64_t y = 0; y < held[1]; ++y) {
        for (uint64_t x = 0; x < held[2]; ++x) {
          ++seen[((first[0] + z) * 7 + first[1] + y) * 3 + first[2] + x];
        }
      }
    }
  }
  EXPECT_EQ(grid.count(), 9u);
  EXPECT_TRUE(std::all_of(seen.begin(), seen.end(), [](int n) { return n == 1; }));
  EXPECT_EQ((ChunkGrid{{0, 4}, {1, 4}}.count()), 0u);
}

TEST(ChooseChunk, TakesWholeFastDimensionsAndEqualSteps) {
  const Extent ones(3, 1);
  EXPECT_EQ(choose_chunk({100, 200, 300}, ones, 4, 4 * mib), (Extent{17, 200, 300}));
  EXPECT_EQ(choose_chunk({10, 20, 30}, ones, 4, 4 * mib), (Extent{10, 20, 30}));
  EXPECT_EQ(choose_chunk({8, 2000, 3000}, ones, 4, 4 * mib), (Extent{1, 334, 3000}));
  EXPECT_EQ(choose_chunk({1000000000}, {1}, 8, 4 * mib), (Extent{524110}));
}

TEST(ChooseChunk, KeepsEarlierChunksWholeAndStaysWithinTheExtent) {
  EXPECT_EQ(choose_chunk({11, 20, 37}, {2, 16, 16}, 4, 4 * mib), (Extent{11, 20, 37}));
  EXPECT_EQ(choose_chunk({1000, 64, 64}, {1, 64, 64}, 4, mib), (Extent{63, 64, 64}));
  EXPECT_EQ(choose_chunk({0, 64}, {32, 64}, 4, mib), (Extent{32, 64}));
}

TEST(PadChunk, RepeatsAlongFixedDimensionsOnly) {
  const Extent chunk{3, 4}, held{2, 3};
  const std::vector<int32_t> values = {1, 2, 3, 4, 5, 6};
  std::vector<int32_t> padded(12, -1);
  const std::span<std::byte> bytes = std::as_writable_bytes(std::span(padded));
  place_held(std::as_bytes(std::span(values)), held, 4, chunk, bytes);
  EXPECT_EQ(padded, (std::vector<int32_t>{1, 2, 3, -1, 4, 5, 6, -1, -1, -1, -1, -1}));
  const std::vector<uint8_t> only_fast = {0, 1};
  repeat_last_values(bytes, 4, chunk, held, only_fast);
  EXPECT_EQ(padded, (std::vector<int32_t>{1, 2, 3, 3, 4, 5, 6, 6, -1, -1, -1, -1}));
}

TEST(OrderedWork, FinishesInOrderAndHoldsFewJobs) {
  for (const int threads : {1, 2, 5}) {
    std::atomic<int> worked{0};
    OrderedWork<int> work(threads, [&](int& job) {
      ++worked;
      job *= 10;
      return Status();
    });
    int made = 0, finished = 0;
    const Status status = work.run(
        [&]() -> Result<std::optional<int>> {
          EXPECT_LE(made - finished, 2 * threads);
          if (made == 500) return std::optional<int>();
          return std::optional(made++);
        },
        [&](int& job) {
          EXPECT_EQ(job, 10 * finished++);
          return Status();
        });
    EXPECT_TRUE(status.ok());
    EXPECT_EQ(worked, 500);
    EXPECT_EQ(finished, 500);
  }
}

TEST(OrderedWork, GivesTheFirstErrorWhereverItComesFrom) {
  for (const int threads : {1, 4}) {
    for (const std::string place : {"next", "work", "finish", "throw"}) {
      OrderedWork<int> work(threads, [&](int& job) -> Status {
        if (place == "throw" && job == 7) throw std::runtime_error("thrown");
        return place == "work" && job == 7 ? failure("work") : Status();
      });
      int made = 0, finished = 0;
      const Status status = work.run(
          [&]() -> Result<std::optional<int>> {
            if (place == "next" && made == 7) return failure("next");
            return made < 100 ? std::optional(made++) : std::optional<int>();
          },
          [&](int& job) {
            ++finished;
            return place == "finish" && job == 7 ? failure("finish") : Status();
          });
      EXPECT_FALSE(status.ok()) << place;
      EXPECT_NE(status.message().find(place == "throw" ? "thrown" : place), std::string::npos);
      EXPECT_LE(finished, 8);
    }
  }
}

}  // namespace
}  // namespace neve::datafile
