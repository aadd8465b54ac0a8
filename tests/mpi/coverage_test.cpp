// SPDX-License-Identifier: BSD-3-Clause
// How covered cells are decided on, and how their averages travel.
#include <map>
#include <tuple>

#include "amr/morton.hpp"
#include "mpi/coverage_check.hpp"
#include "tests/mpi/generated.hpp"

namespace neve::mpi {
namespace {

using test::world_rank;
using test::world_size;

// The exchanges of all ranks of a run, worked out by one process.
std::vector<AverageExchange> all_exchanges(const Hierarchy& h, int ranks, const ExchangeLimits& limits) {
  const Ownership owners = amr::distribute(h, ranks);
  const amr::BoxIndex index(h.levels[0].boxes);
  std::vector<AverageExchange> all;
  for (int rank = 0; rank < ranks; ++rank) {
    all.push_back(plan_average_exchange(h, 0, index, owners, rank, limits));
  }
  return all;
}

TEST(AverageExchange, BothSidesExpectTheSameMessages) {
  // Large boxes: no value of them is ever made, only their exchange is planned.
  Hierarchy h;
  h.dims = 3;
  h.components = {"a"};
  h.levels.resize(2);
  h.levels[0].domain = {{-512, 0, 0}, {511, 511, 511}};
  h.levels[0].boxes = {
      {{-512, 0, 0}, {-1, 511, 511}}, {{0, 0, 0}, {511, 511, 255}}, {{0, 0, 256}, {511, 511, 511}}};
  h.levels[0].ref_ratio = {2, 2, 2};
  h.levels[1].domain = refine(h.levels[0].domain, {2, 2, 2});
  // One box across all coarse ones, one that is not aligned to the ratio, one inside a coarse box.
  h.levels[1].boxes = {
      {{-200, 100, 300}, {399, 899, 799}}, {{601, 1, 3}, {700, 100, 100}}, {{-900, 0, 0}, {-801, 99, 99}}};
  for (int ranks : {1, 2, 5}) {
    const auto all = all_exchanges(h, ranks, {});
    using Key = std::tuple<int, int, int, int, int>;  // round, from, to, slab, coarse box
    std::map<Key, Box> sent, received;
    int64_t sent_cells = 0;
    for (int rank = 0; rank < ranks; ++rank) {
      const AverageExchange& mine = all[static_cast<size_t>(rank)];
      EXPECT_EQ(mine.rounds, all[0].rounds);
      std::map<int, int64_t> bytes_by_round;
      for (const AveragePart& p : mine.sends) {
        EXPECT_TRUE(sent.emplace(Key{p.round, rank, p.peer, p.slab, p.coarse_box}, p.cells).second);
        EXPECT_TRUE(h.levels[1].boxes[static_cast<size_t>(p.fine_box)].contains(refine(p.cells, {2, 2, 2})));
        EXPECT_LE(refine(p.cells, {2, 2, 2}).cells() * 8, ExchangeLimits{}.slab_bytes + (8 << 20));
        bytes_by_round[p.round] += p.cells.cells() * 8;
        sent_cells += p.cells.cells();
      }
      for (const auto& [round, bytes] : bytes_by_round)
        EXPECT_LE(bytes, 2 * ExchangeLimits{}.round_bytes) << round;
      for (const AveragePart& p : mine.receives) {
        EXPECT_TRUE(received.emplace(Key{p.round, p.peer, rank, p.slab, p.coarse_box}, p.cells).second);
      }
    }
    EXPECT_EQ(sent, received);
    // 300 x 400 x 250 of the first, 49 x 49 x 48 whole cells of the unaligned one (601..700 holds 602..699),
    // ...
    EXPECT_EQ(sent_cells, 300 * 400 * 250 + 49 * 49 * 48 + 50 * 50 * 50);
    EXPECT_GT(all[0].rounds, 1);
  }
}

TEST(Coverage, TheDecisionDoesNotDependOnHowTheAveragesTravel) {
  Result<Comm> comm = Comm::duplicate(MPI_COMM_WORLD);
  ASSERT_TRUE(comm.ok());
  for (int dims : {1, 2, 3}) {
    const Hierarchy h = test::make_hierarchy({.dims = dims, .box_cells = dims == 3 ? 8 : 32});
    const Ownership owners = distribute_boxes(h, world_size());
    const test::OwnedBoxes owned(h, owners, world_rank());
    const WriteOptions options;
    const auto decide = [&](const ExchangeLimits& limits) {
      Result<WritePlan> plan = plan_write(*comm, h, owners, owned.boxes(), options);
      EXPECT_TRUE(plan.ok()) << plan.status().message();
      Result<MissedCells> missed = decide_coverage(*comm, h, owned.boxes(), options, *plan, limits);
      EXPECT_TRUE(missed.ok()) << missed.status().message();
      std::string text;
      for (const LevelPlan& level : plan->levels) {
        for (const FieldPlan& field : level.fields) text += field.covered + "\n";
      }
      for (auto& box : *missed) {
        for (auto& cells : box) std::sort(cells.begin(), cells.end());
      }
      return std::pair(text, *missed);
    };
    const auto whole = decide({});
    const auto in_pieces = decide({.slab_bytes = 300, .round_bytes = 100});
    EXPECT_EQ(whole.first, in_pieces.first);
    EXPECT_EQ(whole.second, in_pieces.second);
    EXPECT_TRUE(test::same_on_all_ranks(whole.first));
    EXPECT_NE(whole.first.find("dropped"), std::string::npos);
    EXPECT_NE(whole.first.find("kept: average of finer cells misses"), std::string::npos);
  }
}

}  // namespace
}  // namespace neve::mpi
