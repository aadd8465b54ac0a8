// SPDX-License-Identifier: BSD-3-Clause
// `neve bench struct`: a structured grid with land in it, in equal and in balanced tiles, by several outputs.
#include "bench/command/struct.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <optional>

#include "bench/apps/struct/benchmark.hpp"
#include "bench/command/groups.hpp"
#include "bench/command/store_report.hpp"
#include "bench/harness/busiest.hpp"
#include "tools/common/console.hpp"
#include "tools/common/idle_options.hpp"
#include "tools/common/options.hpp"

namespace neve::cli {
namespace {

using structured::BenchmarkResult;
using structured::Case;
using structured::LayoutResult;
using structured::TileCount;
using Json = nlohmann::ordered_json;

struct Args {
  Case options;
  StoreArgs store;
  std::vector<int> grid = {256, 256, 64}, tasks = {0, 0}, chunk = {64, 64, 64};
  std::string balance = "both", threshold;
  std::vector<int> tiles;
  bool weak = false;
  std::optional<double> space_per_point, mask_per_point;
};

// The grid of all ranks, with frequencies across it.
Result<structured::Grid> grid_of(const Args& args, int ranks) {
  structured::Grid grid = args.options.grid;
  NEVE_ASSIGN(grid.cells, numbers<3>("--grid", args.grid));
  const double longer = std::max(grid.cells[0], grid.cells[1]);
  if (args.space_per_point) grid.space_frequency = *args.space_per_point * longer;
  if (args.mask_per_point) grid.mask_frequency = *args.mask_per_point * longer;
  if (!args.weak) return grid;
  for (const int cells : {grid.cells[0], grid.cells[1]}) {
    if (int64_t{cells} * ranks > std::numeric_limits<int>::max()) {
      return usage_error(
          fmt::format("--grid has {} points a rank; {} ranks cannot have so many", cells, ranks));
    }
  }
  return structured::grown(grid, ranks);
}

Result<Case> case_of(const Args& args, int ranks) {
  Case options = args.options;
  NEVE_ASSIGN(options.grid, grid_of(args, ranks));
  options.tile_counts = args.tiles;
  NEVE_ASSIGN(options.tasks, numbers<2>("--tasks", args.tasks));
  NEVE_ASSIGN(options.chunk, numbers<3>("--chunk", args.chunk));
  if (!args.threshold.empty()) {
    NEVE_ASSIGN(options.threshold, parse_number("--mask-threshold", args.threshold));
  }
  if (args.balance == "on") {
    options.balance = {true};
  } else if (args.balance == "off") {
    options.balance = {false};
  } else if (args.balance != "both") {
    return usage_error(fmt::format("--balance '{}' is unknown; allowed are on, off, both", args.balance));
  }
  NEVE_TRY(fill_store(args.store, options));
  return options;
}

const char* layout_name(bool is_balanced) { return is_balanced ? "balanced" : "unbalanced"; }

Json tile_count_json(const TileCount& count) {
  Json j = {{"tiles", count.valid_points.size()},
            {"name", layout_name(count.balanced)},
            {"max_over_mean", apps::busiest_over_mean(count.valid_points)},
            {"points_max_over_mean", apps::busiest_over_mean(count.raw_bytes)},
            {"valid_points", count.valid_points},
            {"raw_bytes", count.raw_bytes},
            {"outputs", Json::array()}};
  for (const structured::OutputCount& output : count.outputs) {
    j["outputs"].push_back({{"output", output.name},
                            {"container", output.container},
                            {"compression", output.compression},
                            {"tile_bytes", output.bytes},
                            {"tile_bytes_max_over_mean", apps::busiest_over_mean(output.bytes)}});
  }
  return j;
}

Json result_json(const Case& c, int ranks, const BenchmarkResult& result) {
  Json j = {{"ranks", ranks},
            {"grid", c.grid.cells},
            {"steps", c.steps},
            {"first_step", c.first_step},
            {"seed", c.grid.seed},
            {"mask_frequency", c.grid.mask_frequency},
            {"mask_slope", c.grid.mask_slope},
            {"space_frequency", c.grid.space_frequency},
            {"mask_frequency_per_point", structured::per_point(c.grid, c.grid.mask_frequency)},
            {"space_frequency_per_point", structured::per_point(c.grid, c.grid.space_frequency)},
            {"time_frequency", c.grid.time_frequency},
            {"fill", c.grid.fill},
            {"chunk", c.chunk},
            {"bound_abs", result.bound_abs},
            {"mask_threshold", result.threshold},
            {"valid", result.valid},
            {"field_checksum", fmt::format("{:016x}", result.field_checksum)},
            {"layouts", Json::array()}};
  if (!result.tile_counts.empty()) {
    j.erase("layouts");
    j.erase("bound_abs");
    j.erase("field_checksum");
    for (const TileCount& count : result.tile_counts) j["tile_counts"].push_back(tile_count_json(count));
    return j;
  }
  for (const LayoutResult& layout : result.layouts) {
    Json entry = {{"name", layout_name(layout.balanced)},
                  {"max_over_mean", layout.max_over_mean},
                  {"points_max_over_mean", layout.points_max_over_mean},
                  {"valid_points", layout.valid_points},
                  {"raw_rank_bytes", layout.raw_bytes},
                  {"make_seconds", layout.make_seconds},
                  {"outputs", stores_json(layout.outputs)}};
    j["layouts"].push_back(std::move(entry));
  }
  return j;
}

std::string case_text(const Case& c, int ranks, const BenchmarkResult& result) {
  return fmt::format(
      "{} x {} x {} points, {:.2f} % of them valid (mask up to {:.4f}); {}, on {}\nnoise cells across the "
      "grid: {:.4g} of the field, {:.4g} of the land; a point: {:.4g}, {:.4g}\n",
      c.grid.cells[0], c.grid.cells[1], c.grid.cells[2], 100 * result.valid, result.threshold,
      counted(static_cast<uint64_t>(c.steps), "step"), counted(static_cast<uint64_t>(ranks), "rank"),
      c.grid.space_frequency, c.grid.mask_frequency, structured::per_point(c.grid, c.grid.space_frequency),
      structured::per_point(c.grid, c.grid.mask_frequency));
}

std::string result_text(const Case& c, int ranks, const BenchmarkResult& result) {
  std::string text = case_text(c, ranks, result) + fmt::format("bound {}\n", human_error(result.bound_abs));
  for (const LayoutResult& layout : result.layouts) {
    text += fmt::format(
        "\n{}: busiest / mean rank {:.3f} by valid points, {:.3f} by raw bytes; field made in {:.3f} s\n",
        layout_name(layout.balanced), layout.max_over_mean, layout.points_max_over_mean, layout.make_seconds);
    text += stores_text(layout.outputs);
  }
  return text;
}

// Busiest / mean tile: a line for each number of tiles and layout, a column for each output.
std::string tiles_text(const Case& c, int ranks, const BenchmarkResult& result) {
  std::vector<std::string> header = {"tiles", "valid points", "raw bytes"};
  for (const apps::Output& output : c.outputs) header.push_back(output.name);
  Table table(header);
  for (const TileCount& count : result.tile_counts) {
    std::vector<std::string> row = {
        fmt::format("{} {}", count.valid_points.size(), layout_name(count.balanced)),
        fmt::format("{:.3f}", apps::busiest_over_mean(count.valid_points)),
        fmt::format("{:.3f}", apps::busiest_over_mean(count.raw_bytes))};
    for (const structured::OutputCount& output : count.outputs) {
      row.push_back(fmt::format("{:.3f}", apps::busiest_over_mean(output.bytes)));
    }
    table.add(row);
  }
  return case_text(c, ranks, result) +
         "\nbusiest / mean tile by what it has, and by bytes of each tile compressed by itself\n" +
         table.text();
}

Status check_idle(const CLI::App& command, const Args& args) {
  const bool stores = args.tiles.empty();
  const char* const why = "beside --tiles, which counts and stores no file";
  return refuse_idle(command,
                     {{"--tasks", stores, "beside --tiles, whose equal tiles are nearest to squares"},
                      {"--chunk", stores, "beside --tiles: a tile is a chunk"},
                      {"--steps", stores, "beside --tiles, which counts the first step"},
                      {"--keep", stores, why},
                      {"--repeats", stores, why},
                      {"--no-verify", stores, why},
                      {"--no-counts", stores, why},
                      {"--phases", stores, why}});
}

Status run(const Ranks& ranks, const CLI::App& command, const Args& args) {
  NEVE_ASSIGN(const Case options, case_of(args, ranks.size()));
  NEVE_TRY(check_idle(command, args));
  NEVE_ASSIGN(const BenchmarkResult result, structured::run_benchmark(ranks.comm(), options));
  NEVE_TRY(report(
      ranks, args.store.report, [&] { return result_json(options, ranks.size(), result); },
      [&] {
        return args.tiles.empty() ? result_text(options, ranks.size(), result)
                                  : tiles_text(options, ranks.size(), result);
      }));
  for (const LayoutResult& layout : result.layouts) {
    NEVE_TRY(apps::check_stored(layout.outputs).in(layout_name(layout.balanced)));
  }
  return {};
}

void add_frequencies(CLI::App& sub, Args& args) {
  structured::Grid& grid = args.options.grid;
  CLI::Option* const mask =
      sub.add_option(
             "--mask-frequency", grid.mask_frequency,
             "frequency of the land: noise cells across the grid; a lower one makes larger continents")
          ->capture_default_str();
  sub.add_option("--mask-frequency-per-point", args.mask_per_point, "the same, in noise cells a point")
      ->excludes(mask)
      ->type_name("NUMBER");
  sub.add_option("--mask-slope", grid.mask_slope,
                 "how much the land grows towards the bottom (0: not at all)")
      ->capture_default_str();
  CLI::Option* const space =
      sub.add_option("--space-frequency", grid.space_frequency,
                     "frequency of the field in space: noise cells across the longer of x and y; the same on "
                     "a larger grid is smoother from point to point")
          ->capture_default_str();
  sub.add_option("--space-frequency-per-point", args.space_per_point, "the same, in noise cells a point")
      ->excludes(space)
      ->type_name("NUMBER");
}

}  // namespace

Command add_bench_struct(CLI::App& bench) {
  CLI::App* sub = bench.add_subcommand("struct", "A structured grid with blanked points, balanced or not");
  sub->group(mini_apps);
  auto args = std::make_shared<Args>();
  args->store.outputs = {"raw",       "hdf5",     "hdf5-chunked",       "hdf5-zlib", "hdf5-shuffle-zlib",
                         "hdf5-szip", "hdf5-zfp", "hdf5-neve-lossless", "hdf5-neve", "neve-lossless",
                         "neve"};
  Case& c = args->options;
  add_numbers(*sub, "--grid", args->grid, 3, "points along x, y and depth")->capture_default_str();
  sub->add_flag("--weak", args->weak,
                "weak scaling: --grid is of a rank, and grows along x and y with the ranks; frequencies are "
                "across it, so that every number of ranks has noise as smooth");
  add_numbers(*sub, "--tasks", args->tasks, 2,
              "number of equal tiles along x and y (0,0: nearest to squares)");
  sub->add_option("--balance", args->balance,
                  "tiles of equal load, by recursive bisection: on, off (equal tiles) or both")
      ->capture_default_str();
  CLI::Option* const valid =
      sub->add_option("--valid", c.valid, "fraction of valid points")->capture_default_str();
  sub->add_option("--mask-threshold", args->threshold, "threshold of the mask's noise, instead of --valid")
      ->excludes(valid)
      ->type_name("NUMBER");
  add_frequencies(*sub, *args);
  sub->add_option("--time-frequency", c.grid.time_frequency,
                  "frequency of the field in time: noise cells a step")
      ->capture_default_str();
  sub->add_option("--steps", c.steps, "number of steps; each writes a file for each output")
      ->capture_default_str();
  sub->add_option("--first-step", c.first_step, "number of the first step")->capture_default_str();
  sub->add_option("--fill", c.grid.fill, "value of blanked points")->capture_default_str();
  sub->add_option("--seed", c.grid.seed, "seed of the noise")->capture_default_str();
  sub->add_option("--tiles", args->tiles,
                  "count what the tiles of so many ranks become, each compressed by itself, on the ranks "
                  "there are: 2,4,8,16; no file is stored and nothing timed")
      ->delimiter(',');
  add_numbers(*sub, "--chunk", args->chunk, 3, "HDF5 chunk along x, y and depth")->capture_default_str();
  add_store_options(*sub, args->store);
  sub->footer(
      "Examples:\n"
      "  mpirun -n 4 neve bench struct --valid 0.65\n"
      "  mpirun -n 4 neve bench struct --grid 128,128,32 --steps 3 --outputs hdf5,hdf5-zfp,neve --balance "
      "on\n"
      "  mpirun -n 2 neve bench struct --tiles 2,4,8,16 --outputs hdf5-shuffle-zlib,hdf5-zfp,neve\n"
      "  mpirun -n 4 neve bench struct --weak --grid 128,128,32 --outputs hdf5-zfp,hdf5-neve\n"
      "  neve bench struct --deck case.toml --json");
  return store_command(*sub, args, run);
}

}  // namespace neve::cli
