// SPDX-License-Identifier: BSD-3-Clause
// `neve bench struct`: a structured grid with land in it, in equal and in balanced tiles, by several outputs.
#include "bench/command/struct.hpp"

#include <fmt/format.h>

#include <memory>

#include "bench/apps/struct/benchmark.hpp"
#include "bench/command/groups.hpp"
#include "bench/command/store_report.hpp"
#include "tools/common/console.hpp"
#include "tools/common/options.hpp"

namespace neve::cli {
namespace {

using structured::BenchmarkResult;
using structured::Case;
using structured::LayoutResult;
using Json = nlohmann::ordered_json;

struct Args {
  Case options;
  StoreArgs store;
  std::vector<int> grid = {256, 256, 64}, tasks = {0, 0}, chunk = {64, 64, 64};
  std::string balance = "both", threshold;
};

Result<Case> case_of(const Args& args) {
  Case options = args.options;
  NEVE_ASSIGN(options.grid.cells, numbers<3>("--grid", args.grid));
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

const char* layout_name(const LayoutResult& layout) { return layout.balanced ? "balanced" : "unbalanced"; }

Json result_json(const Case& c, int ranks, const BenchmarkResult& result) {
  Json j = {{"ranks", ranks},
            {"grid", c.grid.cells},
            {"steps", c.steps},
            {"first_step", c.first_step},
            {"seed", c.grid.seed},
            {"mask_frequency", c.grid.mask_frequency},
            {"mask_slope", c.grid.mask_slope},
            {"space_frequency", c.grid.space_frequency},
            {"time_frequency", c.grid.time_frequency},
            {"fill", c.grid.fill},
            {"chunk", c.chunk},
            {"bound_abs", result.bound_abs},
            {"mask_threshold", result.threshold},
            {"valid", result.valid},
            {"field_checksum", fmt::format("{:016x}", result.field_checksum)},
            {"layouts", Json::array()}};
  for (const LayoutResult& layout : result.layouts) {
    Json entry = {{"name", layout_name(layout)},
                  {"max_over_mean", layout.max_over_mean},
                  {"points_max_over_mean", layout.points_max_over_mean},
                  {"valid_points", layout.valid_points},
                  {"make_seconds", layout.make_seconds},
                  {"outputs", stores_json(layout.outputs)}};
    j["layouts"].push_back(std::move(entry));
  }
  return j;
}

std::string result_text(const Case& c, int ranks, const BenchmarkResult& result) {
  std::string text =
      fmt::format("{} x {} x {} points, {:.2f} % of them valid (mask up to {:.4f}); {}, on {}; bound {}\n",
                  c.grid.cells[0], c.grid.cells[1], c.grid.cells[2], 100 * result.valid, result.threshold,
                  counted(static_cast<uint64_t>(c.steps), "step"),
                  counted(static_cast<uint64_t>(ranks), "rank"), human_error(result.bound_abs));
  for (const LayoutResult& layout : result.layouts) {
    text += fmt::format("\n{}: busiest / mean rank {:.3f} by valid points; field made in {:.3f} s\n",
                        layout_name(layout), layout.max_over_mean, layout.make_seconds);
    text += stores_text(layout.outputs);
  }
  return text;
}

Status run(const Ranks& ranks, const CLI::App& command, const Args& args) {
  NEVE_ASSIGN(const Case options, case_of(args));
  NEVE_TRY(check_store_options(command, args.store));
  NEVE_ASSIGN(const BenchmarkResult result, structured::run_benchmark(ranks.comm(), options));
  NEVE_TRY(report(
      ranks, args.store.report, [&] { return result_json(options, ranks.size(), result); },
      [&] { return result_text(options, ranks.size(), result); }));
  for (const LayoutResult& layout : result.layouts) {
    NEVE_TRY(apps::check_stored(layout.outputs).in(layout_name(layout)));
  }
  return {};
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
  sub->add_option("--mask-frequency", c.grid.mask_frequency,
                  "frequency of the land: noise cells across the grid; a lower one makes larger continents")
      ->capture_default_str();
  sub->add_option("--mask-slope", c.grid.mask_slope,
                  "how much the land grows towards the bottom (0: not at all)")
      ->capture_default_str();
  sub->add_option("--space-frequency", c.grid.space_frequency,
                  "frequency of the field in space: noise cells across the grid")
      ->capture_default_str();
  sub->add_option("--time-frequency", c.grid.time_frequency,
                  "frequency of the field in time: noise cells a step")
      ->capture_default_str();
  sub->add_option("--steps", c.steps, "number of steps; each writes a file for each output")
      ->capture_default_str();
  sub->add_option("--first-step", c.first_step, "number of the first step")->capture_default_str();
  sub->add_option("--fill", c.grid.fill, "value of blanked points")->capture_default_str();
  sub->add_option("--seed", c.grid.seed, "seed of the noise")->capture_default_str();
  add_numbers(*sub, "--chunk", args->chunk, 3, "HDF5 chunk along x, y and depth")->capture_default_str();
  add_store_options(*sub, args->store);
  sub->footer(
      "Examples:\n"
      "  mpirun -n 4 neve bench struct --valid 0.65\n"
      "  mpirun -n 4 neve bench struct --grid 128,128,32 --steps 3 --outputs hdf5,hdf5-zfp,neve --balance "
      "on\n"
      "  neve bench struct --deck case.toml --json");
  return store_command(*sub, args, run);
}

}  // namespace neve::cli
