// SPDX-License-Identifier: BSD-3-Clause
#include "bench/apps/io_model/paper_runs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "core/amr/load_balance.hpp"
#include "core/amr/sample_grids.hpp"
#include "core/io_model/file_pieces.hpp"
#include "core/io_model/write_calls.hpp"

namespace neve::io_bench {
namespace {

using io_model::FilePieces;
using io_model::Strategy;

constexpr uint64_t mebibyte = uint64_t{1} << 20;
constexpr std::array<Strategy, 3> strategies = {Strategy::independent, Strategy::collective,
                                                Strategy::aggregated};

FilePieces pieces_of(const Hierarchy& hierarchy, int ranks,
                     const std::vector<io_model::DatasetLayout>& layouts, int metadata_writes) {
  const amr::Owners owners =
      amr::share_boxes(hierarchy, ranks, amr::cell_loads(hierarchy), DistributionMethod::chombo);
  FilePieces file = io_model::value_pieces(hierarchy, owners, ranks, layouts);
  file.metadata_writes = static_cast<uint64_t>(metadata_writes);
  return file;
}

Result<FilePieces> chombo_file(const IntVect& units, int ranks) {
  amr::ChomboGrid grid;
  grid.replicas = units;
  NEVE_ASSIGN(const Hierarchy hierarchy, amr::chombo_grid(grid));
  const IntVect ghosts{amr::chombo_ghosts, amr::chombo_ghosts, amr::chombo_ghosts};
  return pieces_of(hierarchy, ranks, {{grid.components, ghosts}}, amr::chombo_metadata_writes);
}

Result<FilePieces> ice_file(amr::IceFile kind, int ranks) {
  amr::IceGrid grid;
  grid.file = kind;
  grid.components = amr::ice_components(kind);
  NEVE_ASSIGN(const Hierarchy hierarchy, amr::ice_grid(grid));
  std::vector<amr::SampleVariable> variables = {{"plot", grid.components, amr::ice_plot_ghosts}};
  if (kind == amr::IceFile::checkpoint) {
    NEVE_ASSIGN(variables, amr::checkpoint_variables(grid.components));
  }
  std::vector<io_model::DatasetLayout> layouts;
  for (const amr::SampleVariable& variable : variables) {
    layouts.push_back({variable.components, {variable.ghosts, variable.ghosts, 0}});
  }
  return pieces_of(hierarchy, ranks, layouts, amr::ice_metadata_writes(kind));
}

Run run_of(std::string what, const FilePieces& file, int ranks_per_node, int stripe_count,
           uint64_t stripe_mebibytes) {
  Run run;
  run.what = std::move(what);
  run.ranks = file.ranks;
  run.ranks_per_node = ranks_per_node;
  run.metadata_writes = file.metadata_writes;
  run.striping = {stripe_count, stripe_mebibytes * mebibyte, std::min(stripe_count, file.ranks)};
  for (size_t s = 0; s < strategies.size(); ++s) {
    io_model::for_each_load(file, strategies[s], 0, run.striping,
                            [&](const io_model::TargetLoads& loads, bool is_collective) {
                              run.strategies[s].is_collective = is_collective;
                              run.strategies[s].steps.push_back(loads);
                            });
  }
  return run;
}

// Section IV.B: three runs; 24 ranks a node, but 32 in the second.
Result<Section> scaling(const std::string& system, int last_targets,
                        const std::array<Range, factor_count>& paper) {
  Section section{"scaling", system, true, {}, paper};
  NEVE_ASSIGN(const FilePieces small, chombo_file({4, 4, 4}, 576));
  NEVE_ASSIGN(const FilePieces middle, chombo_file({8, 8, 8}, 3072));
  NEVE_ASSIGN(const FilePieces large, chombo_file({16, 8, 8}, 5856));
  section.runs.push_back(run_of("61 GB, 576 ranks, 24 x 4 MiB", small, 24, 24, 4));
  section.runs.push_back(run_of("494 GB, 3072 ranks, 96 x 8 MiB", middle, 32, 96, 8));
  section.runs.push_back(
      run_of(fmt::format("987 GB, 5856 ranks, {} x 16 MiB", last_targets), large, 24, last_targets, 16));
  return section;
}

// Section IV.C: 494 GB on 96 nodes, stripes of 4, 8 and 16 MiB.
Result<Section> striping(const std::string& system, int ranks, const std::vector<int>& stripe_counts,
                         const std::array<Range, factor_count>& paper) {
  Section section{"striping", system, false, {}, paper};
  NEVE_ASSIGN(const FilePieces file, chombo_file({8, 8, 8}, ranks));
  for (int count : stripe_counts) {
    for (const uint64_t size : {4, 8, 16}) {
      section.runs.push_back(run_of(fmt::format("494 GB, {} ranks, {} x {} MiB", ranks, count, size), file,
                                    ranks / 96, count, size));
    }
  }
  return section;
}

// Section IV.E: 576 ranks on 24 nodes, 24 stripes of 4 MiB.
Result<Section> ice(amr::IceFile kind, const char* name, double over_independent, double over_collective) {
  const double between = over_independent / over_collective;
  Section section{
      name,
      "edison",
      false,
      {},
      {{{between, between}, {over_independent, over_independent}, {over_collective, over_collective}}}};
  NEVE_ASSIGN(const FilePieces file, ice_file(kind, 576));
  section.runs.push_back(run_of("576 ranks, 24 x 4 MiB", file, 24, 24, 4));
  return section;
}

}  // namespace

Result<std::vector<Section>> paper_sections() {
  std::vector<Section> sections;
  const auto add = [&](Result<Section> section) -> Status {
    if (!section.ok()) return section.status();
    sections.push_back(*std::move(section));
    return {};
  };
  NEVE_TRY(add(scaling("cori", 244, {{{2.6, 5.3}, {5.7, 9.6}, {1.6, 1.8}}})));
  NEVE_TRY(add(scaling("edison", 96, {{{1.1, 1.6}, {2.6, 3.8}, {2.0, 2.6}}})));
  NEVE_TRY(add(striping("cori", 3072, {48, 72, 96, 120, 196}, {{{2.3, 6.1}, {3.9, 9.1}, {1.5, 1.8}}})));
  // The abstract has the third range, 1.5 to 3.4, for both systems.
  NEVE_TRY(add(striping("edison", 2304, {36, 48, 60, 96}, {{{1.1, 1.6}, {2.0, 3.4}, {1.5, 3.4}}})));
  NEVE_TRY(add(ice(amr::IceFile::checkpoint, "BISICLES checkpoint", 20.0, 12.8)));
  NEVE_TRY(add(ice(amr::IceFile::plot, "BISICLES plot file", 13.1, 6.4)));
  return sections;
}

std::array<double, 3> seconds_of(const Run& run, io_model::FileSystem system) {
  system.ranks_per_node = run.ranks_per_node;
  std::array<double, 3> seconds{};
  for (size_t s = 0; s < seconds.size(); ++s) {
    io_model::Prediction prediction;
    prediction.metadata_seconds = io_model::metadata_seconds(run.metadata_writes, system);
    for (const io_model::TargetLoads& loads : run.strategies[s].steps) {
      io_model::add_step(prediction, loads, run.strategies[s].is_collective, run.ranks, run.striping, system);
    }
    seconds[s] = prediction.total();
  }
  return seconds;
}

Factors factors_of(const Run& run, const io_model::FileSystem& system) {
  const auto [independent, collective, aggregated] = seconds_of(run, system);
  return {independent / collective, independent / aggregated, collective / aggregated};
}

std::array<Range, factor_count> ranges_of(const Section& section, const io_model::FileSystem& system) {
  std::array<Range, factor_count> ranges;
  ranges.fill({std::numeric_limits<double>::max(), 0});
  for (const Run& run : section.runs) {
    const Factors factors = factors_of(run, system);
    for (size_t f = 0; f < factor_count; ++f) {
      ranges[f].low = std::min(ranges[f].low, factors[f]);
      ranges[f].high = std::max(ranges[f].high, factors[f]);
    }
  }
  return ranges;
}

}  // namespace neve::io_bench
