// SPDX-License-Identifier: BSD-3-Clause
// `neve bench chombo`: the Chombo I/O benchmark.
#include "bench/command/chombo.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

#include "bench/apps/chombo/benchmark.hpp"
#include "bench/command/groups.hpp"
#include "bench/command/report.hpp"
#include "core/amr/distribution_names.hpp"
#include "core/catalog/choices.hpp"
#include "core/catalog/strategies.hpp"
#include "tools/common/console.hpp"
#include "tools/common/deck.hpp"
#include "tools/common/idle_options.hpp"
#include "tools/common/options.hpp"

namespace neve::cli {
namespace {

using Json = nlohmann::ordered_json;
using chombo::BenchmarkResult;
using chombo::Case;
using chombo::WayResult;

struct Args {
  std::string grid = "chombo", file = "plot", distribution = "greedy", bound = "rel=1e-3", effort = "fast",
              covered = covered_name(bench_covered);
  std::vector<int> units = {1, 1, 1};
  std::vector<std::string> strategies = {"independent", "collective", "aggregated", "skeleton", "compressed"};
  int box_cells = 0, components = 0, ghosts = 1, aggregate_boxes = 0, repeats = 3;
  LayoutArgs layout;
  std::string folder = ".", deck;
  bool compress_ghosts = false, verify = false, keep = false;
  ReportArgs report;
};

Result<Case> case_of(const Args& args) {
  Case options;
  if (args.grid == "bisicles") {
    options.grid = chombo::Grid::bisicles;
  } else if (args.grid != "chombo") {
    return usage_error(fmt::format("--grid '{}' is unknown; allowed are chombo, bisicles", args.grid));
  }
  const bool is_chombo = options.grid == chombo::Grid::chombo;
  if (args.file == "checkpoint") {
    options.file = chombo::FileKind::checkpoint;
  } else if (args.file != "plot") {
    return usage_error(fmt::format("--file '{}' is unknown; allowed are plot, checkpoint", args.file));
  }
  if (args.units.size() != max_dims) {
    return usage_error(fmt::format("--units has {} numbers; 3 are wanted, as in 2,2,1", args.units.size()));
  }
  for (size_t d = 0; d < max_dims; ++d) options.units[d] = args.units[d];
  options.box_cells = args.box_cells != 0 ? args.box_cells : is_chombo ? 64 : 16;
  options.components = args.components != 0 ? args.components : is_chombo ? 2 : 15;
  options.ghosts = args.ghosts;
  options.compress_ghosts = args.compress_ghosts;
  NEVE_ASSIGN(options.distribution, parse_distribution_method(args.distribution));
  for (const std::string& name : args.strategies) {
    NEVE_ASSIGN(const chombo::Way way, chombo::parse_way(name));
    options.ways.push_back(way);
  }
  options.aggregate_boxes = args.aggregate_boxes;
  NEVE_ASSIGN(options.bound, parse_bound(args.bound));
  NEVE_ASSIGN(options.effort, parse_effort(args.effort));
  NEVE_ASSIGN(options.covered, parse_covered(args.covered));
  NEVE_ASSIGN(options.layout, args.layout.read());
  options.repeats = args.repeats;
  options.folder = args.folder;
  options.verify = args.verify;
  options.keep = args.keep;
  return options;
}

double megabytes_per_second(const BenchmarkResult& result, const WayResult& way) {
  return static_cast<double>(result.value_bytes) / way.total_seconds / 1e6;
}

Json result_json(const Args& args, const Case& options, int ranks, const BenchmarkResult& result) {
  Json j = {{"grid", args.grid},
            {"file", args.file},
            {"ranks", ranks},
            {"units", args.units},
            {"box_cells", options.box_cells},
            {"components", options.components},
            {"ghosts", options.ghosts},
            {"compress_ghosts", options.compress_ghosts},
            {"distribution", args.distribution},
            {"aggregate_boxes", options.aggregate_boxes},
            {"bound", args.bound},
            {"covered", args.covered},
            {"repeats", options.repeats},
            {"boxes", result.boxes},
            {"finest_boxes", result.finest_boxes},
            {"value_bytes", result.value_bytes},
            {"max_over_mean", result.max_over_mean},
            {"max_over_mean_finest", result.max_over_mean_finest},
            {"max_finest_boxes", result.max_finest_boxes},
            {"min_finest_boxes", result.min_finest_boxes},
            {"strategies", Json::array()}};
  for (const WayResult& way : result.ways) {
    Json entry = {{"name", way.name},
                  {"mpi_writes", way.mpi_writes},
                  {"data_bytes", way.data_bytes},
                  {"file_bytes", way.file_bytes},
                  {"MBps", megabytes_per_second(result, way)},
                  {"seconds",
                   {{"total", way.total_seconds},
                    {"min", way.min_seconds},
                    {"plan", way.plan_seconds},
                    {"encode", way.encode_seconds},
                    {"place", way.place_seconds},
                    {"write", way.write_seconds},
                    {"sync", way.sync_seconds}}},
                  {"hints", way.hints}};
    if (options.verify) {
      entry["verified"] = {{"values", way.verified_values},
                           {"bound_abs", way.bound_abs},
                           {"max_abs_error", way.max_abs_error}};
    }
    j["strategies"].push_back(std::move(entry));
  }
  return j;
}

std::string result_text(const Args& args, const Case& options, int ranks, const BenchmarkResult& result) {
  std::string text = fmt::format(
      "{} {} file: {} boxes, {} of values on {} ranks (busiest / mean {:.3f}, finest level {:.3f}: {} to {} "
      "boxes a "
      "rank); medians of {}; compressed: bound {}, covered cells {}\n\n",
      args.grid, args.file, result.boxes, human_bytes(result.value_bytes), ranks, result.max_over_mean,
      result.max_over_mean_finest, result.min_finest_boxes, result.max_finest_boxes, options.repeats,
      args.bound, options.file == chombo::FileKind::plot ? args.covered : covered_name(Covered::keep));
  Table table({"strategy", "MPI-IO writes", "data written", "file", "MB/s", "total ms", "min", "plan",
               "encode", "place", "write", "sync"});
  const auto ms = [](double seconds) { return fmt::format("{:.3g}", seconds * 1e3); };
  for (const WayResult& way : result.ways) {
    table.add({way.name, std::to_string(way.mpi_writes), human_bytes(way.data_bytes),
               human_bytes(way.file_bytes), fmt::format("{:.0f}", megabytes_per_second(result, way)),
               ms(way.total_seconds), ms(way.min_seconds), ms(way.plan_seconds), ms(way.encode_seconds),
               ms(way.place_seconds), ms(way.write_seconds), ms(way.sync_seconds)});
  }
  text += table.text();
  if (options.verify) {
    text += "\nRead back:\n";
    for (const WayResult& way : result.ways) {
      text += fmt::format("  {}: {} values, {}\n", way.name, way.verified_values,
                          way.bound_abs == 0
                              ? "bit for bit"
                              : fmt::format("largest error {}, bound {}", human_error(way.max_abs_error),
                                            human_error(way.bound_abs)));
    }
  }
  if (options.layout != FileLayout{}) {
    std::string line;
    for (const auto& [key, value] : result.ways.front().hints) {
      line += (line.empty() ? "" : ", ") + fmt::format("{}={}", key, value);
    }
    text += fmt::format("\nMPI-IO hints, as the MPI library reports them: {}\n", line);
  }
  return text;
}

Status check_options(const CLI::App& command, const Case& options) {
  const auto any = [&](auto has) { return std::any_of(options.ways.begin(), options.ways.end(), has); };
  const bool compresses = any([](const chombo::Way& way) { return way.compress; });
  const bool is_plot = options.file == chombo::FileKind::plot;
  const std::string why_not = "with these --strategies; it is allowed with compressed";
  const std::string of_plots = "with --file checkpoint";
  return refuse_idle(command, {{"--bound", compresses, why_not},
                               {"--effort", compresses, why_not},
                               {"--covered", compresses, why_not},
                               {"--compress-ghosts", compresses, why_not},
                               {"--covered", is_plot, of_plots + ", which holds every cell"},
                               {"--ghosts", is_plot, of_plots + ", whose variables have 4 or 5"},
                               {"--aggregate-boxes",
                                any([](const chombo::Way& way) { return way.strategy == "aggregated"; }),
                                "with these --strategies; it is allowed with aggregated"}});
}

Status run(const Ranks& ranks, const CLI::App& command, const Args& args) {
  NEVE_ASSIGN(const Case options, case_of(args));
  NEVE_TRY(check_options(command, options));
  NEVE_ASSIGN(const BenchmarkResult result, chombo::run_benchmark(ranks.comm(), options));
  return report(
      ranks, args.report, [&] { return result_json(args, options, ranks.size(), result); },
      [&] { return result_text(args, options, ranks.size(), result); });
}

}  // namespace

Command add_bench_chombo(CLI::App& bench) {
  CLI::App* sub = bench.add_subcommand("chombo", "The Chombo I/O benchmark: strategies, timed and read back");
  sub->group(mini_apps);
  auto args = std::make_shared<Args>();
  add_deck_option(*sub, args->deck, "units = [2, 2, 1]");
  sub->option_defaults()->group("Case");
  sub->add_option("--grid", args->grid,
                  "chombo (3 levels of equal boxes) or bisicles (5 levels in 2D, boxes of many sizes)")
      ->capture_default_str();
  sub->add_option("--file", args->file,
                  "plot (a dataset per level) or checkpoint (one per variable and level)")
      ->capture_default_str();
  sub->add_option("--units", args->units, "how often the unit of 225 boxes is repeated along x, y, z")
      ->delimiter(',')
      ->expected(1, 3);
  sub->add_option("--box-cells", args->box_cells, "edge of a box (chombo: 64) or of a tile (bisicles: 16)");
  sub->add_option("--components", args->components, "components (chombo: 2, bisicles: 15)");
  sub->add_option(
         "--ghosts", args->ghosts,
         "layers of ghost cells around every box of a plotfile; a checkpoint's variables have 4 or 5")
      ->capture_default_str();
  sub->add_flag("--compress-ghosts", args->compress_ghosts, "compressed files hold the ghost cells as well");
  sub->add_option("--distribution", args->distribution,
                  "how boxes are distributed over ranks (greedy as Chombo): " +
                      joined(amr::distribution_names, " or "))
      ->capture_default_str();
  sub->option_defaults()->group("Files");
  sub->add_option("--strategies", args->strategies, joined(strategies_of_values) + ", compressed")
      ->delimiter(',')
      ->capture_default_str();
  sub->add_option("--aggregate-boxes", args->aggregate_boxes,
                  "aggregated: boxes of a rank in one call; 0: all");
  sub->add_option("--bound", args->bound,
                  "compressed: abs=X, rel=X (of each level's value range) or lossless")
      ->capture_default_str();
  sub->add_option("--effort", args->effort, "compressed: effort " + joined(effort_names, " or "))
      ->capture_default_str();
  sub->add_option("--covered", args->covered, bench_covered_help)->capture_default_str();
  args->layout.add(*sub);
  sub->add_option("--folder", args->folder, "folder in which the files are written")->capture_default_str();
  sub->add_flag("--keep", args->keep,
                "keep the last file of each strategy; refused if a file of that name exists");
  sub->option_defaults()->group("Measurement");
  sub->add_option("--repeats", args->repeats, "writes with each strategy; they take turns")
      ->capture_default_str();
  sub->add_flag("--verify", args->verify, "read the last file of each strategy back and compare all values");
  add_report_options(*sub, args->report);
  sub->footer(
      "Examples:\n"
      "  mpirun -n 8 neve bench chombo --box-cells 16 --verify\n"
      "  mpirun -n 4 neve bench chombo --units 2,2,2 --box-cells 8 --strategies collective,aggregated\n"
      "  mpirun -n 8 neve bench chombo --grid bisicles --file checkpoint --strategies "
      "independent,aggregated");
  return deck_command(*sub, {args, &args->deck},
                      [args, sub](const Ranks& ranks) { return run(ranks, *sub, *args); });
}

}  // namespace neve::cli
