// SPDX-License-Identifier: BSD-3-Clause
// `neve bench amr`: a mesh that follows the noise, written as plot files by several strategies and codecs.
#include "bench/command/amr.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <memory>

#include "bench/apps/amr/benchmark.hpp"
#include "bench/command/groups.hpp"
#include "bench/command/store_report.hpp"
#include "core/amr/distribution_names.hpp"
#include "core/catalog/choices.hpp"
#include "core/catalog/strategies.hpp"
#include "tools/common/console.hpp"

namespace neve::cli {
namespace {

using amr_app::BenchmarkResult;
using amr_app::Case;
using amr_app::StepResult;
using Json = nlohmann::ordered_json;

struct Args {
  Case options;
  StoreArgs store;
  std::vector<int> blocks = {8, 8, 8};
  std::vector<std::string> methods = {"skeleton", "skeleton:lossless", "amrex-1d:auto", "filtered:auto",
                                      "skeleton:auto"};
  std::string distribution = "chombo", effort = "fast", covered = covered_name(bench_covered);
};

Result<Case> case_of(const Args& args) {
  Case options = args.options;
  NEVE_ASSIGN(options.mesh.blocks, numbers<3>("--blocks", args.blocks));
  for (const std::string& name : args.methods) {
    NEVE_ASSIGN(const amr_app::Method method, amr_app::parse_method(name));
    options.methods.push_back(method);
  }
  NEVE_ASSIGN(options.distribution, parse_distribution_method(args.distribution));
  NEVE_ASSIGN(options.effort, parse_effort(args.effort));
  NEVE_ASSIGN(options.covered, parse_covered(args.covered));
  NEVE_ASSIGN(options.bound, parse_bound(args.store.bound));
  options.store = store_options(args.store);
  return options;
}

Json result_json(const Args& args, const Case& c, int ranks, const BenchmarkResult& result) {
  Json j = {{"ranks", ranks},
            {"blocks", c.mesh.blocks},
            {"block_cells", c.mesh.block_cells},
            {"levels", c.mesh.levels},
            {"threshold", c.mesh.threshold},
            {"seed", c.mesh.seed},
            {"bound", args.store.bound},
            {"covered", args.covered},
            {"make_seconds", result.make_seconds},
            {"steps", Json::array()}};
  for (const StepResult& step : result.steps) {
    j["steps"].push_back(
        {{"blocks", step.blocks}, {"max_over_mean", step.max_over_mean}, {"changed", step.changed}});
  }
  j["methods"] = stores_json(result.methods);
  for (size_t m = 0; m < result.staged.size(); ++m) {
    if (!result.staged[m]) continue;
    j["methods"][m]["staged_bytes"] = result.staged[m]->bytes;
    j["methods"][m]["published_seconds"] = result.staged[m]->published_seconds;
  }
  return j;
}

std::string result_text(const Case& c, int ranks, const BenchmarkResult& result) {
  std::string text = fmt::format("blocks of {}^3 cells on {}; made in {:.3f} s; covered cells: {}\n",
                                 c.mesh.block_cells, counted(static_cast<uint64_t>(ranks), "rank"),
                                 result.make_seconds, covered_name(c.covered));
  int number = c.first_step;
  for (const StepResult& step : result.steps) {
    text += fmt::format(
        "step {}: blocks by level {}; busiest / mean rank {:.3f} by cells; {:.0f} % of the finest new\n",
        number++, fmt::join(step.blocks, ", "), step.max_over_mean, 100 * step.changed);
  }
  text += "\n" + stores_text(result.methods);
  for (size_t m = 0; m < result.staged.size(); ++m) {
    if (!result.staged[m]) continue;
    text += fmt::format("{}: {} waited on {}; files with their names {:.3f} s after the calls began\n",
                        c.methods[m].name, human_bytes(result.staged[m]->bytes), c.stage,
                        result.staged[m]->published_seconds);
  }
  return text;
}

Status run(const Ranks& ranks, const CLI::App&, const Args& args) {
  NEVE_ASSIGN(const Case options, case_of(args));
  NEVE_ASSIGN(const BenchmarkResult result, amr_app::run_benchmark(ranks.comm(), options));
  NEVE_TRY(report(
      ranks, args.store.report, [&] { return result_json(args, options, ranks.size(), result); },
      [&] { return result_text(options, ranks.size(), result); }));
  return apps::check_stored(result.methods);
}

}  // namespace

Command add_bench_amr(CLI::App& bench) {
  CLI::App* sub = bench.add_subcommand("amr", "A block-structured mesh that follows the noise");
  sub->group(mini_apps);
  auto args = std::make_shared<Args>();
  args->store.bound = "rel=1e-3";
  Case& c = args->options;
  add_numbers(*sub, "--blocks", args->blocks, 3, "blocks of the coarsest level along x, y, z")
      ->capture_default_str();
  sub->add_option("--block-cells", c.mesh.block_cells, "edge of a block in cells, even")
      ->capture_default_str();
  sub->add_option("--levels", c.mesh.levels, "maximum number of levels; each refines by 2")
      ->capture_default_str();
  sub->add_option("--threshold", c.mesh.threshold,
                  "blocks are refined where |noise| is above this (its standard deviation is 0.146)")
      ->capture_default_str();
  sub->add_option("--threshold-growth", c.mesh.threshold_growth,
                  "factor of the threshold from level to level")
      ->capture_default_str();
  sub->add_option("--components", c.mesh.components,
                  "components of a cell; the first decides what is refined")
      ->capture_default_str();
  sub->add_option("--space-frequency", c.mesh.space_frequency, "noise cells across the longest edge")
      ->capture_default_str();
  sub->add_option("--time-frequency", c.mesh.time_frequency, "noise cells for each step in time")
      ->capture_default_str();
  sub->add_option("--steps", c.steps, "steps; the mesh is made anew in each")->capture_default_str();
  sub->add_option("--first-step", c.first_step, "number of the first step")->capture_default_str();
  sub->add_option("--seed", c.mesh.seed, "seed of the noise")->capture_default_str();
  sub->add_option("--distribution", args->distribution,
                  "how blocks are distributed over ranks: " + joined(amr::distribution_names, " or "))
      ->capture_default_str();
  sub->add_option("--methods", args->methods,
                  "methods of writing: a strategy (" + joined(strategies_of_values) + "; with a codec also " +
                      joined(strategies_of_peers) +
                      "), and after a colon a codec if values are to be compressed")
      ->delimiter(',')
      ->capture_default_str();
  sub->add_option("--effort", args->effort, "effort of codecs: " + joined(effort_names, " or "))
      ->capture_default_str();
  sub->add_option("--covered", args->covered, bench_covered_help)->capture_default_str();
  sub->add_option("--stage", c.stage,
                  "a folder on a fast device of each machine, such as /dev/shm: files of skeleton and "
                  "amrex-1d with a codec wait there, and go into their place when the call has returned");
  add_store_options(*sub, args->store, false);
  sub->footer(
      "Examples:\n"
      "  mpirun -n 4 neve bench amr --steps 3\n"
      "  mpirun -n 4 neve bench amr --levels 4 --methods skeleton,skeleton:context,skeleton:dual_quant "
      "--bound "
      "rel=1e-4\n"
      "  neve bench amr --deck case.toml --json");
  return store_command(*sub, args, run);
}

}  // namespace neve::cli
