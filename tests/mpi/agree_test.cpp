// SPDX-License-Identifier: BSD-3-Clause
#include "parallel/comm/agree.hpp"
#include "parallel/comm/same_everywhere.hpp"

#include <cstdlib>

#include "parallel/comm/fault.hpp"
#include "parallel/write/ownership.hpp"
#include "parallel/write/workers.hpp"
#include "tests/mpi/generated.hpp"

namespace neve::mpi {
namespace {

using test::world_rank;
using test::world_size;

TEST(Agree, OkWhereAllAreOk) {
  Result<Comm> comm = Comm::duplicate(MPI_COMM_WORLD);
  ASSERT_TRUE(comm.ok());
  EXPECT_TRUE(agree(*comm, {}).ok());
}

TEST(Agree, EveryRankGetsTheLowestFailingRanksWords) {
  Result<Comm> comm = Comm::duplicate(MPI_COMM_WORLD);
  for (int first = 0; first < world_size(); ++first) {
    const Status mine = world_rank() < first    ? Status()
                        : world_rank() == first ? usage_error("broken at " + std::to_string(first))
                                                : corrupt("later rank");
    const Status all = agree(*comm, mine);
    EXPECT_EQ(all.code(), Code::usage);
    const std::string words = "broken at " + std::to_string(first);
    EXPECT_EQ(all.message(), world_size() == 1 ? words : "rank " + std::to_string(first) + ": " + words);
  }
}

TEST(Agree, LongAndEmptyMessagesTravelWhole) {
  Result<Comm> comm = Comm::duplicate(MPI_COMM_WORLD);
  const std::string words(100000, 'x');
  const Status all = agree(*comm, world_rank() == world_size() - 1 ? failure(words) : Status());
  EXPECT_NE(all.message().find(words), std::string::npos);
  EXPECT_EQ(agree(*comm, world_rank() == 0 ? failure("") : Status()).code(), Code::failure);
}

TEST(Agree, AnExceptionBecomesAStatus) {
  const Status status = guarded("encode", []() -> Status { throw std::bad_alloc(); });
  EXPECT_EQ(status.code(), Code::failure);
  EXPECT_EQ(status.message(), "encode: out of memory");
}

TEST(Fault, HitsOnlyItsPhaseAndRank) {
  ::setenv("NEVE_FAULT", "encode:0", 1);
  EXPECT_EQ(injected_fault(Phase::encode, 0).message(), "injected fault in phase encode");
  EXPECT_TRUE(injected_fault(Phase::encode, 1).ok());
  EXPECT_TRUE(injected_fault(Phase::write, 0).ok());
  for (const char* malformed : {"encode", "encode:", "encode:x", "encode:0:die", "nowhere:0", "encode:-1"}) {
    ::setenv("NEVE_FAULT", malformed, 1);
    EXPECT_EQ(injected_fault(Phase::write, 5).code(), Code::usage) << malformed;
  }
  ::unsetenv("NEVE_FAULT");
  EXPECT_TRUE(injected_fault(Phase::encode, 0).ok());
}

TEST(Workers, AllPiecesAreDoneOnceWhateverTheThreads) {
  for (int threads : {1, 2, 5}) {
    std::vector<int> done(100, 0);
    EXPECT_TRUE(run_workers(threads, done.size(), "test", [&](size_t i) -> Status {
                  ++done[i];
                  return {};
                }).ok());
    EXPECT_EQ(done, std::vector<int>(100, 1)) << threads;
  }
}

TEST(Workers, AnErrorInAnyThreadComesBack) {
  for (int threads : {1, 3}) {
    const Status status = run_workers(threads, 50, "test", [&](size_t i) -> Status {
      if (i == 20) throw std::runtime_error("piece 20");
      return {};
    });
    EXPECT_EQ(status.message(), "test: piece 20");
  }
}

TEST(Ownership, BoxesWithoutOwnerOrWithTwoAreNamed) {
  Result<Comm> comm = Comm::duplicate(MPI_COMM_WORLD);
  const Hierarchy h = test::make_hierarchy({.dims = 2});
  auto owner = distribute_boxes(h, world_size());
  const test::OwnedBoxes owned(h, owner, world_rank());
  Result<Ownership> found = find_owners(*comm, h, owned.boxes());
  ASSERT_TRUE(found.ok()) << found.status().message();
  EXPECT_EQ(*found, owner);

  std::vector<LocalBox> fewer = owned.boxes();
  std::erase_if(fewer, [](const LocalBox& b) { return b.level == 1 && b.box == 2; });
  found = find_owners(*comm, h, fewer);
  EXPECT_EQ(found.status().code(), Code::usage);
  EXPECT_EQ(found.status().message(), "level 1 box 2 is owned 0 times; each box needs exactly one owner");

  const test::OwnedBoxes everything(h, distribute_boxes(h, 1), 0);
  found = find_owners(*comm, h, everything.boxes());
  EXPECT_EQ(found.ok(), world_size() == 1);

  std::vector<LocalBox> stray = owned.boxes();
  if (world_rank() == world_size() - 1) stray.push_back({9, 0, {}});
  const Status status = find_owners(*comm, h, stray).status();
  EXPECT_NE(status.message().find("owned box on level 9; allowed are 0..2"), std::string::npos);
}

TEST(Ownership, RanksThatDisagreeAreTold) {
  Result<Comm> comm = Comm::duplicate(MPI_COMM_WORLD);
  EXPECT_TRUE(check_same_everywhere(
                  *comm, [] { return std::string("same"); }, "the text")
                  .ok());
  const Status status = check_same_everywhere(
      *comm, [] { return std::to_string(world_rank()); }, "the text");
  EXPECT_EQ(status.ok(), world_size() == 1);
}

}  // namespace
}  // namespace neve::mpi
