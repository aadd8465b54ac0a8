// SPDX-License-Identifier: BSD-3-Clause
// The runs that Devendran et al. timed ("Collective I/O Optimizations for Adaptive Mesh Refinement Data
// Writes on Lustre File System"), and the factors between the strategies that their text gives.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "core/io_model/predict.hpp"
#include "neve/status.hpp"

namespace neve::io_bench {

// Factors between times: independent over collective, independent over aggregated, collective over
// aggregated.
inline constexpr size_t factor_count = 3;
using Factors = std::array<double, factor_count>;
inline constexpr std::array<const char*, factor_count> factor_names = {
    "independent / collective", "independent / aggregated", "collective / aggregated"};

struct Range {
  double low = 0, high = 0;
};

// What each target has to do for one strategy, step by step.
struct StrategyLoads {
  bool is_collective = false;
  std::vector<io_model::TargetLoads> steps;
};

struct Run {
  std::string what;
  int ranks = 0, ranks_per_node = 0;
  uint64_t metadata_writes = 0;
  io_model::Striping striping;
  std::array<StrategyLoads, 3> strategies;  // independent, collective, aggregated
};

// Some runs on one system and the range of each factor over them, as the paper's text says.
struct Section {
  std::string name, system;
  bool is_fitted = false;
  std::vector<Run> runs;
  std::array<Range, factor_count> paper;
};

// The scaling section (IV.B) on both systems, which the constants are fitted to; then what they predict: the
// striping section (IV.C) on both and the two files of BISICLES (IV.E).
Result<std::vector<Section>> paper_sections();

// Seconds of each strategy, and the factors between them.
std::array<double, 3> seconds_of(const Run& run, io_model::FileSystem system);
Factors factors_of(const Run& run, const io_model::FileSystem& system);
std::array<Range, factor_count> ranges_of(const Section& section, const io_model::FileSystem& system);

}  // namespace neve::io_bench
