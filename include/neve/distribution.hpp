// SPDX-License-Identifier: BSD-3-Clause
// Distribution of boxes over ranks. Independent, not collective: the same arguments give the same answer on
// every rank.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "neve/hierarchy.hpp"
#include "neve/status.hpp"

#pragma GCC visibility push(default)
namespace neve {

// How the boxes of a level are shared among ranks, along the Morton curve so that a rank's boxes lie
// together.
enum class DistributionMethod : uint8_t {
  even_runs,  // runs of boxes, cut where the ranks' even shares of the load end
  greedy,     // runs of boxes, each filled up to a target load that follows what is left: the first half of
              // Chombo's LoadBalance
  chombo,     // greedy, then boxes are exchanged as long as that lowers the load of the most loaded rank
              // (Kernighan and Lin): what Chombo does by default; more even, runs with holes
};
Result<DistributionMethod> parse_distribution_method(
    const std::string& name);  // "even-runs", "greedy", "chombo"

struct DistributionOptions {
  DistributionMethod method = DistributionMethod::even_runs;
  // The cost of a box, loads[level][box], in any unit; empty: its cells.
  std::vector<std::vector<double>> loads;
};

// owner[level][box]. Usage error unless there is one finite load of at least 0 for every box, or fewer than
// one rank.
Result<std::vector<std::vector<int>>> distribute_boxes(const Hierarchy& hierarchy, int ranks,
                                                       const DistributionOptions& options);

// Runs of boxes in Morton order, balanced by cells. Fewer than one rank counts as one.
std::vector<std::vector<int>> distribute_boxes(const Hierarchy& hierarchy, int ranks);

}  // namespace neve
#pragma GCC visibility pop
