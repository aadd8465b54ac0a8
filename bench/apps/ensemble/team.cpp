// SPDX-License-Identifier: BSD-3-Clause
#include "bench/apps/ensemble/team.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace neve::ensemble {

using mpi::Comm;
using mpi::mpi_status;

Result<TeamPlan> plan_teams(int ranks, int members, int asked, int grid_rows) {
  const int most = std::max(1, std::min(ranks, grid_rows / min_team_rows));
  if (asked > most) {
    return usage_error(fmt::format("member-ranks is {}; 0 to {} is allowed with {} ranks and {} rows", asked,
                                   most, ranks, grid_rows));
  }
  TeamPlan plan;
  plan.ranks = asked > 0 ? asked : std::clamp(ranks / members, 1, most);
  plan.teams = std::min(members, ranks / plan.ranks);
  return plan;
}

Result<Team> Team::make(const Comm& all, const Grid& grid, const TeamPlan& plan) {
  // Ranks beyond the teams are one of their own, which runs nothing.
  const int index = std::min(all.rank() / plan.ranks, plan.teams);
  MPI_Comm split = MPI_COMM_NULL;
  NEVE_TRY(mpi_status(MPI_Comm_split(all.get(), index, all.rank(), &split), "splitting ranks into teams"));
  Result<Comm> comm = Comm::duplicate(split);
  MPI_Comm_free(&split);
  NEVE_TRY(comm.status());
  return Team(std::move(*comm), grid, plan, index);
}

Team::Team(Comm comm, const Grid& grid, const TeamPlan& plan, int index)
    : comm_(std::move(comm)), grid_(grid), plan_(plan), index_(index), works_(index < plan.teams) {
  rows_ = works_ ? rows_of(comm_.rank()) : Rows{0, grid.ny};
}

Rows Team::rows_of(int rank) const {
  const int first = grid_.ny * rank / plan_.ranks;
  return {first, grid_.ny * (rank + 1) / plan_.ranks - first};
}

Status Team::exchange(const std::vector<float>& southern, const std::vector<float>& northern,
                      std::vector<float>& from_south, std::vector<float>& from_north) {
  const int south = comm_.rank() > 0 ? comm_.rank() - 1 : MPI_PROC_NULL;
  const int north = comm_.rank() + 1 < comm_.size() ? comm_.rank() + 1 : MPI_PROC_NULL;
  const int count = static_cast<int>(southern.size());
  const auto shift = [&](const std::vector<float>& out, int to, std::vector<float>& in, int from) {
    return mpi_status(MPI_Sendrecv(out.data(), count, MPI_FLOAT, to, 0, in.data(), count, MPI_FLOAT, from, 0,
                                   comm_.get(), MPI_STATUS_IGNORE),
                      "exchange of rows");
  };
  NEVE_TRY(shift(southern, south, from_north, north));
  return shift(northern, north, from_south, south);
}

Result<std::vector<float>> Team::gather(const std::vector<float>& field) const {
  if (!is_split()) return field;
  const size_t nx = static_cast<size_t>(grid_.nx);
  const size_t layers = field.size() / (nx * static_cast<size_t>(rows_.count));
  std::vector<int> counts, starts;
  int next = 0;
  for (int rank = 0; rank < comm_.size(); ++rank) {
    starts.push_back(next);
    counts.push_back(grid_.nx * rows_of(rank).count * static_cast<int>(layers));
    next += counts.back();
  }
  const bool leads = comm_.rank() == 0;
  std::vector<float> bands(leads ? static_cast<size_t>(next) : 0), whole(bands.size());
  NEVE_TRY(mpi_status(MPI_Gatherv(field.data(), static_cast<int>(field.size()), MPI_FLOAT, bands.data(),
                                  counts.data(), starts.data(), MPI_FLOAT, 0, comm_.get()),
                      "gathering a member"));
  if (!leads) return whole;
  const float* from = bands.data();
  for (int rank = 0; rank < comm_.size(); ++rank) {
    const Rows rows = rows_of(rank);
    const size_t block = static_cast<size_t>(rows.count) * nx;
    for (size_t k = 0; k < layers; ++k, from += block) {
      std::copy_n(from, block,
                  whole.data() + (k * static_cast<size_t>(grid_.ny) + static_cast<size_t>(rows.first)) * nx);
    }
  }
  return whole;
}

}  // namespace neve::ensemble
