// SPDX-License-Identifier: BSD-3-Clause
#include "parallel/file/strategy.hpp"

#include "core/catalog/refusals.hpp"

namespace neve::mpi {

Result<Strategy> parse_strategy(const std::string& name) {
  for (const StrategyRow& row : strategy_rows) {
    if (row.name == name) return row.value;
  }
  return not_a_name("strategy", name, joined(strategy_rows));
}

WriteOrder write_order(Strategy strategy, int aggregate_boxes) {
  switch (strategy) {
    case Strategy::aggregated:
      return {.pieces_a_call = static_cast<uint64_t>(aggregate_boxes), .bounds_memory = aggregate_boxes > 0};
    case Strategy::collective:
      return {.pieces_a_call = 1};
    case Strategy::independent:
      return {.is_collective = false, .pieces_a_call = 1};
    case Strategy::skeleton:
    case Strategy::filtered:
    case Strategy::amrex_1d:
      break;
  }
  return {.joins_datasets = true};
}

}  // namespace neve::mpi
