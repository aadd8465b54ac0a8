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
#include "core/amr/sample_grids.hpp"
#include "core/catalog/choices.hpp"
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
  std::string grid = "chombo", file = "plot", distribution = "chombo", bound = "rel=1e-3", effort = "fast",
              covered = covered_name(bench_covered);
  std::vector<int> units = {1, 1, 1};
  // Chombo's path first, then Neve's.
  std::vector<std::string> strategies = {"hdf5-independent", "hdf5-collective", "hdf5-aggregated",
                                         "cb2-aggregated",   "skeleton",        "compressed"};
  std::vector<int> aggregate_boxes = {0};
  int box_cells = 0, components = 0, ghosts = 1, repeats = 3;
  LayoutArgs layout;
  std::string folder = ".", stage, deck;
  bool compress_ghosts = false, verify = false, read_back = false, keep = false;
  ReportArgs report;
};

Result<Case> case_of(const Args& args) {
  Case options;
  chombo::ContentsCase& of = options.contents;
  if (args.grid == "bisicles") {
    of.grid = chombo::Grid::bisicles;
  } else if (args.grid != "chombo") {
    return usage_error(fmt::format("--grid '{}' is unknown; allowed are chombo, bisicles", args.grid));
  }
  const bool is_chombo = of.grid == chombo::Grid::chombo;
  if (args.file == "checkpoint") {
    of.file = chombo::FileKind::checkpoint;
  } else if (args.file != "plot") {
    return usage_error(fmt::format("--file '{}' is unknown; allowed are plot, checkpoint", args.file));
  }
  if (args.units.size() != max_dims) {
    return usage_error(fmt::format("--units has {} numbers; 3 are wanted, as in 2,2,1", args.units.size()));
  }
  for (size_t d = 0; d < max_dims; ++d) of.units[d] = args.units[d];
  of.box_cells = args.box_cells != 0 ? args.box_cells : is_chombo ? 64 : 16;
  const amr::IceFile ice_file =
      of.file == chombo::FileKind::plot ? amr::IceFile::plot : amr::IceFile::checkpoint;
  of.components = args.components != 0 ? args.components
                  : is_chombo          ? amr::ChomboGrid().components
                                       : amr::ice_components(ice_file);
  of.ghosts = args.ghosts;
  options.write.compress_ghosts = args.compress_ghosts;
  NEVE_ASSIGN(of.distribution, parse_distribution_method(args.distribution));
  NEVE_ASSIGN(options.ways, chombo::parse_ways(args.strategies, args.aggregate_boxes));
  NEVE_ASSIGN(options.write.bound, parse_bound(args.bound));
  NEVE_ASSIGN(options.write.effort, parse_effort(args.effort));
  NEVE_ASSIGN(options.write.covered, parse_covered(args.covered));
  NEVE_ASSIGN(options.write.layout, args.layout.read());
  options.write.stage = args.stage;
  options.repeats = args.repeats;
  options.folder = args.folder;
  options.verify = args.verify;
  options.read_back = args.read_back;
  options.keep = args.keep;
  return options;
}

double megabytes_per_second(const BenchmarkResult& result, const WayResult& way) {
  return static_cast<double>(result.value_bytes) / way.total_seconds / 1e6;
}

// Of one way. What a way cannot be asked for is null.
Json way_json(const Case& options, const BenchmarkResult& result, const WayResult& way) {
  Json entry = {{"name", way.way.name},
                {"strategy", way.way.strategy},
                {"mpi_writes", way.mpi_writes},
                {"data_bytes", way.data_bytes},
                {"file_bytes", way.file_bytes},
                {"peak_buffer_bytes", way.peak_buffer_bytes},
                {"read_modify_write", way.reads_and_writes_back},
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
    entry["verified"] = {
        {"values", way.verified_values}, {"bound_abs", way.bound_abs}, {"max_abs_error", way.max_abs_error}};
  }
  if (way.way.takes_aggregate_boxes) entry["aggregate_boxes"] = way.way.aggregate_boxes;
  if (options.read_back) entry["read_seconds"] = way.read_seconds;
  if (way.published_seconds > 0) {
    entry["staged_bytes"] = way.staged_bytes;
    entry["published_seconds"] = way.published_seconds;
  }
  return entry;
}

Json result_json(const Args& args, const Case& options, int ranks, const BenchmarkResult& result) {
  Json j = {{"grid", args.grid},
            {"file", args.file},
            {"ranks", ranks},
            {"mpi_io", result.mpi_io},
            {"units", args.units},
            {"box_cells", options.contents.box_cells},
            {"components", options.contents.components},
            {"ghosts", options.contents.ghosts},
            {"compress_ghosts", options.write.compress_ghosts},
            {"distribution", args.distribution},
            {"aggregate_boxes", args.aggregate_boxes},
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
  for (const WayResult& of : result.ways) j["strategies"].push_back(way_json(options, result, of));
  return j;
}

std::string table_text(const Case& options, const BenchmarkResult& result) {
  std::vector<std::string> columns = {"strategy", "MPI-IO writes", "data written", "file", "buffer",
                                      "MB/s",     "total ms",      "min",          "plan", "encode",
                                      "place",    "write",         "sync"};
  if (options.read_back) columns.push_back("read");
  Table table(columns);
  const auto ms = [](double seconds) { return fmt::format("{:.3g}", seconds * 1e3); };
  for (const WayResult& way : result.ways) {
    std::vector<std::string> row = {
        way.way.name,
        std::to_string(way.mpi_writes),
        human_bytes(way.data_bytes),
        human_bytes(way.file_bytes),
        human_bytes(way.peak_buffer_bytes),
        fmt::format("{:.0f}", megabytes_per_second(result, way)),
    };
    for (const double seconds : {way.total_seconds, way.min_seconds, way.plan_seconds, way.encode_seconds,
                                 way.place_seconds, way.write_seconds, way.sync_seconds})
      row.push_back(ms(seconds));
    if (options.read_back) row.push_back(ms(way.read_seconds));
    table.add(row);
  }
  return table.text();
}

std::string result_text(const Args& args, const Case& options, int ranks, const BenchmarkResult& result) {
  std::string text = fmt::format(
      "{} {} file: {}, {} of values on {} (busiest / mean {:.3f}, finest level {:.3f}: {} to {} "
      "boxes a "
      "rank); medians of {}; compressed: bound {}, covered cells {}\n\n",
      args.grid, args.file, counted(static_cast<uint64_t>(result.boxes), "box", "boxes"),
      human_bytes(result.value_bytes), counted(static_cast<uint64_t>(ranks), "rank"), result.max_over_mean,
      result.max_over_mean_finest, result.min_finest_boxes, result.max_finest_boxes, options.repeats,
      args.bound,
      options.contents.file == chombo::FileKind::plot ? args.covered : covered_name(Covered::keep));
  text += table_text(options, result);
  std::string written_back;
  for (const WayResult& way : result.ways) {
    if (way.reads_and_writes_back) written_back += (written_back.empty() ? "" : ", ") + way.way.name;
  }
  if (!written_back.empty()) {
    text += fmt::format("\nMay read and write back bytes of other ranks (MPI-IO {}): {}\n", result.mpi_io,
                        written_back);
  }
  for (const WayResult& way : result.ways) {
    if (way.published_seconds == 0) continue;
    text += fmt::format("\n{}: {} waited on {}; the file has its name {:.3g} ms after the call began\n",
                        way.way.name, human_bytes(way.staged_bytes), options.write.stage,
                        way.published_seconds * 1e3);
  }
  if (options.verify) {
    text += "\nRead back:\n";
    for (const WayResult& way : result.ways) {
      text += fmt::format("  {}: {} values, {}\n", way.way.name, way.verified_values,
                          way.bound_abs == 0
                              ? "bit for bit"
                              : fmt::format("largest error {}, bound {}", human_error(way.max_abs_error),
                                            human_error(way.bound_abs)));
    }
  }
  if (options.write.layout != FileLayout{}) {
    std::string line;
    for (const auto& [key, value] : result.ways.front().hints) {
      line += (line.empty() ? "" : ", ") + fmt::format("{}={}", key, value);
    }
    text += fmt::format("\nMPI-IO hints, as the MPI library reports them: {}\n", line);
  }
  return text;
}

std::string names_of_aggregating() {
  std::string names;
  for (const chombo::Way& way : chombo::all_ways()) {
    if (way.takes_aggregate_boxes) names += (names.empty() ? "" : ", ") + way.name;
  }
  return names;
}

Status check_options(const CLI::App& command, const Case& options) {
  const auto any = [&](auto has) { return std::any_of(options.ways.begin(), options.ways.end(), has); };
  const bool compresses = any([](const chombo::Way& way) { return way.compresses; });
  const bool is_plot = options.contents.file == chombo::FileKind::plot;
  const std::string why_not = "with these --strategies; it is allowed with compressed";
  const std::string of_plots = "with --file checkpoint";
  return refuse_idle(
      command, {{"--bound", compresses, why_not},
                {"--effort", compresses, why_not},
                {"--covered", compresses, why_not},
                {"--compress-ghosts", compresses, why_not},
                {"--stage", compresses, why_not},
                {"--covered", is_plot, of_plots + ", which holds every cell"},
                {"--ghosts", is_plot, of_plots + ", whose variables have 5, 4 or 1"},
                {"--aggregate-boxes", any([](const chombo::Way& way) { return way.takes_aggregate_boxes; }),
                 "with these --strategies; it is allowed with " + names_of_aggregating()}});
}

Status run(const Ranks& ranks, const CLI::App& command, const Args& args) {
  NEVE_ASSIGN(const Case options, case_of(args));
  NEVE_TRY(check_options(command, options));
  if (const int aggregators = options.write.layout.aggregators; aggregators > ranks.size()) {
    return usage_error(fmt::format("--aggregators is {}; 1 to {} are allowed: they are some of the ranks",
                                   aggregators, ranks.size()));
  }
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
  sub->add_option("--components", args->components,
                  "components (chombo: 2, bisicles: 15, its checkpoint: 72)");
  sub->add_option(
         "--ghosts", args->ghosts,
         "layers of ghost cells around every box of a plotfile; a checkpoint's variables have 5, 4 or 1")
      ->capture_default_str();
  sub->add_flag("--compress-ghosts", args->compress_ghosts, "compressed files hold the ghost cells as well");
  sub->add_option("--distribution", args->distribution,
                  "how boxes are distributed over ranks: " + joined(amr::distribution_names, " or "))
      ->capture_default_str();
  sub->option_defaults()->group("Files");
  sub->add_option("--strategies", args->strategies, chombo::way_names())
      ->delimiter(',')
      ->capture_default_str();
  sub->add_option(
         "--aggregate-boxes", args->aggregate_boxes,
         names_of_aggregating() +
             ": boxes of a rank in one call, 0: all; of several numbers each is a strategy of its own")
      ->delimiter(',')
      ->capture_default_str();
  sub->add_option("--bound", args->bound,
                  "compressed: abs=X, rel=X (of each level's value range) or lossless")
      ->capture_default_str();
  sub->add_option("--effort", args->effort, "compressed: effort " + joined(effort_names, " or "))
      ->capture_default_str();
  sub->add_option("--covered", args->covered, bench_covered_help)->capture_default_str();
  args->layout.add(*sub);
  sub->add_option("--folder", args->folder, "folder in which the files are written")->capture_default_str();
  sub->add_option("--stage", args->stage,
                  "a folder on a fast device of each machine, such as /dev/shm: compressed files wait there, "
                  "and go into their place when the call has returned");
  sub->add_flag("--keep", args->keep,
                "keep the last file of each strategy; refused if a file of that name exists");
  sub->option_defaults()->group("Measurement");
  sub->add_option("--repeats", args->repeats, "writes with each strategy; they take turns")
      ->capture_default_str();
  sub->add_flag("--verify", args->verify, "read the last file of each strategy back and compare all values");
  sub->add_flag("--read-back", args->read_back,
                "time reading each file back by Neve's reader, every rank its own boxes");
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
