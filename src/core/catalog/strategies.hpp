// SPDX-License-Identifier: BSD-3-Clause
// How ranks write a file: every strategy, a row each.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/catalog/names.hpp"

namespace neve {

enum class Strategy : uint8_t {
  skeleton,     // frames by each rank for itself; values of all levels in one collective write
  aggregated,   // those of a level in one, or in several of as many pieces each
  collective,   // each rank's first piece of a level in one, its second in the next, ...
  independent,  // a write of its own for every piece
  filtered,     // HDF5's collective filtered write, a rank's whole level one chunk: AMRIC's way
  amrex_1d,     // chunks of chunk_values elements, each compressed alone as a 1D array: AMReX's way
};

struct StrategyRow {
  Strategy value;
  std::string_view name;
  std::string_view covers;  // what one write does
};

// Of values as they are and of compressed ones.
inline constexpr std::array<StrategyRow, 4> strategies_of_values = {
    {{Strategy::skeleton, "skeleton", "everything of a rank"},
     {Strategy::aggregated, "aggregated", "a level of a rank"},
     {Strategy::collective, "collective", "a chunk, all ranks together"},
     {Strategy::independent, "independent", "a chunk"}}};
// For comparison: these only compress.
inline constexpr std::array<StrategyRow, 2> strategies_of_peers = {
    {{Strategy::filtered, "filtered", "AMRIC: collective filtered HDF5 writes"},
     {Strategy::amrex_1d, "amrex-1d", "AMReX: 1D chunks, each compressed alone"}}};

inline constexpr std::array<StrategyRow, 6> strategy_rows = [] {
  std::array<StrategyRow, 6> all{};
  size_t count = 0;
  for (const StrategyRow& row : strategies_of_values) all[count++] = row;
  for (const StrategyRow& row : strategies_of_peers) all[count++] = row;
  return all;
}();

inline std::string strategy_name(Strategy strategy) { return std::string(name_in(strategy_rows, strategy)); }

}  // namespace neve
