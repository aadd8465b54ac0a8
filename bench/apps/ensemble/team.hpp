// SPDX-License-Identifier: BSD-3-Clause
// Ranks that run members together: each has a band of rows of every one of them.
#pragma once

#include <mpi.h>

#include <vector>

#include "bench/apps/ensemble/model.hpp"
#include "parallel/comm/agree.hpp"

namespace neve::ensemble {

// A rank has at least so many rows of a member: with fewer, most of its work is its neighbours' rows.
inline constexpr int min_team_rows = 4;

struct TeamPlan {
  int ranks = 1;  // of a team
  int teams = 1;  // a rank beyond ranks * teams runs no member
};
// `asked` ranks for a member; 0: as many as there are for each, at least one. Usage error where that is more
// than there are, or than the grid has rows for.
Result<TeamPlan> plan_teams(int ranks, int members, int asked, int grid_rows);

// Member m is run by team m modulo the number of teams.
class Team final : public Neighbours {
 public:
  // Collective over `all`.
  static Result<Team> make(const mpi::Comm& all, const Grid& grid, const TeamPlan& plan);

  bool runs(int member) const { return works_ && member % plan_.teams == index_; }
  // Whether this rank is the one that has whole members, and writes and reads their files.
  bool leads(int member) const { return runs(member) && comm_.rank() == 0; }
  int leader_of(int member) const { return member % plan_.teams * plan_.ranks; }  // its rank in `all`
  int place_of(int member) const { return member / plan_.teams; }                 // among its team's members
  bool is_split() const { return plan_.ranks > 1; }
  const mpi::Comm& comm() const { return comm_; }
  const Rows& rows() const { return rows_; }

  Status exchange(const std::vector<float>& southern, const std::vector<float>& northern,
                  std::vector<float>& from_south, std::vector<float>& from_north) override;

  // Collective over the team. A field of this rank's rows, [layer][row][x] or [row][x], becomes one of all
  // rows on the leader; elsewhere the result is empty.
  Result<std::vector<float>> gather(const std::vector<float>& field) const;

 private:
  Team(mpi::Comm comm, const Grid& grid, const TeamPlan& plan, int index);
  Rows rows_of(int rank) const;

  mpi::Comm comm_;
  Grid grid_;  // all rows
  TeamPlan plan_;
  int index_ = 0;
  bool works_ = true;
  Rows rows_;
};

}  // namespace neve::ensemble
