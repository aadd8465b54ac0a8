// SPDX-License-Identifier: BSD-3-Clause
// Members that several ranks run together: bit for bit what one rank makes of them.
#include <gtest/gtest.h>
#include <mpi.h>

#include "bench/apps/ensemble/team.hpp"

namespace neve::ensemble {
namespace {

const Grid grid{20, 30, 3, 100e3};

mpi::Comm world() {
  Result<mpi::Comm> comm = mpi::Comm::duplicate(MPI_COMM_WORLD);
  EXPECT_TRUE(comm.ok());
  return std::move(*comm);
}

State run(Model& model) {
  State state = model.initial_state(3, 1, 0.5);
  EXPECT_TRUE(model.advance(state, 6 * 3600).ok());
  return state;
}

TEST(EnsembleTeam, BandsOfRowsMakeTheMemberThatOneRankMakes) {
  const mpi::Comm all = world();
  Result<Team> made = Team::make(all, grid, {all.size(), 1});
  ASSERT_TRUE(made.ok()) << made.status().message();
  Team& team = *made;
  Model split(grid, team.rows(), &team), whole(grid);
  const State mine = run(split), expected = run(whole);
  EXPECT_EQ(mine.u.size(), split.grid().cells());
  std::vector<float> State::*const fields[] = {&State::u,      &State::v,     &State::thickness,
                                               &State::vapour, &State::cloud, &State::rain};
  for (const auto field : fields) {
    const Result<std::vector<float>> gathered = team.gather(mine.*field);
    ASSERT_TRUE(gathered.ok());
    if (all.rank() == 0) {
      EXPECT_EQ(*gathered, expected.*field);
    }
  }
  const Result<Diagnostics> own = split.diagnose(mine);
  const Result<Diagnostics> of_whole = whole.diagnose(expected);
  ASSERT_TRUE(own.ok() && of_whole.ok());
  const Result<std::vector<float>> w = team.gather(own->w);
  ASSERT_TRUE(w.ok());
  if (all.rank() == 0) {
    EXPECT_EQ(*w, of_whole->w);
  }
}

TEST(EnsembleTeam, EveryMemberHasOneLeaderAndRanksTooManyHaveNone) {
  const mpi::Comm all = world();
  constexpr int members = 3;
  const Result<TeamPlan> plan = plan_teams(all.size(), members, 0, grid.ny);
  ASSERT_TRUE(plan.ok());
  const Result<Team> team = Team::make(all, grid, *plan);
  ASSERT_TRUE(team.ok());
  for (int m = 0; m < members; ++m) {
    int leads = team->leads(m) ? 1 : 0, runs = team->runs(m) ? 1 : 0;
    EXPECT_EQ(team->leads(m), all.rank() == team->leader_of(m));
    MPI_Allreduce(MPI_IN_PLACE, &leads, 1, MPI_INT, MPI_SUM, all.get());
    MPI_Allreduce(MPI_IN_PLACE, &runs, 1, MPI_INT, MPI_SUM, all.get());
    EXPECT_EQ(leads, 1);
    EXPECT_EQ(runs, plan->ranks);
  }
}

TEST(EnsembleTeam, RanksAreDealtOutToMembers) {
  const auto plan = [](int ranks, int members, int asked) {
    const Result<TeamPlan> made = plan_teams(ranks, members, asked, 40);
    EXPECT_TRUE(made.ok());
    return std::pair(made->ranks, made->teams);
  };
  EXPECT_EQ(plan(2, 40, 0), std::pair(1, 2));
  EXPECT_EQ(plan(4, 2, 0), std::pair(2, 2));
  EXPECT_EQ(plan(7, 2, 0), std::pair(3, 2));
  EXPECT_EQ(plan(4, 40, 2), std::pair(2, 2));
  EXPECT_EQ(plan(100, 2, 0), std::pair(10, 2)) << "four rows a rank";
}

TEST(EnsembleTeam, RefusesMoreRanksThanThereAreOrThanRowsAllow) {
  for (const auto& [ranks, rows] : {std::pair(2, 40), std::pair(100, 11)}) {
    const Result<TeamPlan> made = plan_teams(ranks, 2, 3, rows);
    ASSERT_FALSE(made.ok());
    EXPECT_NE(made.status().message().find("member-ranks is 3; 0 to 2 is allowed"), std::string::npos)
        << made.status().message();
  }
}

}  // namespace
}  // namespace neve::ensemble
