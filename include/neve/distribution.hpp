// SPDX-License-Identifier: BSD-3-Clause
// Which rank holds which box. Independent, not collective: the same answer wherever the arguments are the
// same.
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
enum class Sharing : uint8_t {
  even_runs,  // runs of boxes, cut where the ranks' even shares of the load end
  greedy,  // runs of boxes, each filled until it meets a goal that follows what is left: Chombo's LoadBalance
  exchange,  // greedy, then boxes change hands as long as the most loaded rank gets less: evener, runs with
             // holes
};
Result<Sharing> parse_sharing(const std::string& name);  // "even-runs", "greedy", "exchange"

struct DistributionOptions {
  Sharing sharing = Sharing::even_runs;
  // What a box costs, loads[level][box], in any unit; empty: its cells.
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
