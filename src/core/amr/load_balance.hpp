// SPDX-License-Identifier: BSD-3-Clause
// Sharing boxes among ranks by load. Loads are whole numbers, so that sums are exact and every rank that
// computes them gets the same answer.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "neve/distribution.hpp"
#include "neve/hierarchy.hpp"
#include "neve/status.hpp"

namespace neve::amr {

using Loads = std::vector<std::vector<int64_t>>;  // [level][box]
using Owners = std::vector<std::vector<int>>;     // [level][box]: a rank

Loads cell_loads(const Hierarchy& hierarchy);

// Loads in any unit (seconds, particles) as whole numbers, rounded to 2^-30 of the largest. Usage error
// unless there is one finite number of at least 0 for every box.
Result<Loads> whole_loads(const Hierarchy& hierarchy, std::span<const std::vector<double>> given);

// Owners of one level's boxes: runs of `order`, cut where the ranks' even shares of the load end; a box goes
// to the rank that would hold its middle.
std::vector<int> even_runs(std::span<const int> order, std::span<const int64_t> loads, int ranks);

// Owners of one level's boxes as the first half of Chombo's LoadBalance deals them out: runs of `order`, each
// filled until it meets a goal, which is the mean of what is left for the ranks that are left. Box i to rank
// i where there are no more boxes than ranks.
std::vector<int> greedy_runs(std::span<const int> order, std::span<const int64_t> loads, int ranks);

// Lowers the load of the most loaded rank by handing a box of it to another rank or swapping two of a level,
// as long as that helps (Kernighan and Lin's exchange, the most loaded rank first). First level by level,
// then over the sum of all levels, in which no level's own largest load grows. Boxes that change hands are
// those at the end of a run that lies towards the other rank, where there is a choice; orders[level] is the
// order of the runs.
void exchange_boxes(const Loads& loads, std::span<const std::vector<int>> orders, int ranks, Owners& owners);

// Every level by the rule asked for. `ranks` must be at least 1.
Owners share_boxes(const Hierarchy& hierarchy, int ranks, const Loads& loads, DistributionMethod method);

struct Balance {
  int64_t largest = 0;  // load of the most loaded rank
  double mean = 0;      // over all ranks
  double max_over_mean() const { return mean > 0 ? static_cast<double>(largest) / mean : 1; }
};
Balance balance_of_level(std::span<const int64_t> loads, std::span<const int> owners, int ranks);
Balance balance_of_all(const Loads& loads, const Owners& owners, int ranks);

}  // namespace neve::amr
