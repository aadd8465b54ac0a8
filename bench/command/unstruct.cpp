// SPDX-License-Identifier: BSD-3-Clause
// `neve bench unstruct`: superquadric shells of wedges and triangles, by several outputs.
#include "bench/command/unstruct.hpp"

#include <fmt/format.h>

#include <memory>

#include "bench/apps/unstruct/benchmark.hpp"
#include "bench/command/groups.hpp"
#include "bench/command/store_report.hpp"
#include "tools/common/console.hpp"

namespace neve::cli {
namespace {

using unstruct::BenchmarkResult;
using unstruct::Case;
using Json = nlohmann::ordered_json;

struct Args {
  Case options;
  StoreArgs store;
  uint64_t points_per_rank = 0;
  std::vector<double> roundness = {1, 1}, roundness_end;
};

Result<Case> case_of(const Args& args, int ranks) {
  Case options = args.options;
  if (args.points_per_rank > 0) options.shells.points = args.points_per_rank * static_cast<uint64_t>(ranks);
  NEVE_ASSIGN(const auto roundness, numbers<2>("--roundness", args.roundness));
  options.shells.latitude_roundness = roundness[0];
  options.shells.longitude_roundness = roundness[1];
  options.shells.change_roundness = !args.roundness_end.empty();
  if (options.shells.change_roundness) {
    NEVE_ASSIGN(const auto end, numbers<2>("--roundness-end", args.roundness_end));
    options.shells.latitude_end = end[0];
    options.shells.longitude_end = end[1];
  }
  NEVE_TRY(fill_store(args.store, options));
  return options;
}

Json result_json(const Args& args, const Case& c, int ranks, const BenchmarkResult& result) {
  return {{"ranks", ranks},
          {"steps", c.steps},
          {"roundness", args.roundness},
          {"seed", c.shells.seed},
          {"bound", args.store.bound},
          {"points", result.points},
          {"wedges", result.wedges},
          {"triangles", result.triangles},
          {"make_seconds", result.make_seconds},
          {"value_outputs", stores_json(result.values)},
          {"connectivity_outputs", stores_json(result.connectivity)}};
}

std::string result_text(const Case& c, int ranks, const BenchmarkResult& result) {
  std::string text =
      fmt::format("{} points, {} wedges, {} triangles, {}, on {}; made in {:.3f} s\n", result.points,
                  result.wedges, result.triangles, counted(static_cast<uint64_t>(c.steps), "step"),
                  counted(static_cast<uint64_t>(ranks), "rank"), result.make_seconds);
  text += "\npoints and noise\n" + stores_text(result.values);
  return text + "\nconnectivity\n" + stores_text(result.connectivity);
}

Status run(const Ranks& ranks, const CLI::App&, const Args& args) {
  NEVE_ASSIGN(const Case options, case_of(args, ranks.size()));
  NEVE_ASSIGN(const BenchmarkResult result, unstruct::run_benchmark(ranks.comm(), options));
  NEVE_TRY(report(
      ranks, args.store.report, [&] { return result_json(args, options, ranks.size(), result); },
      [&] { return result_text(options, ranks.size(), result); }));
  NEVE_TRY(apps::check_stored(result.values).in("points and noise"));
  return apps::check_stored(result.connectivity).in("connectivity");
}

}  // namespace

Command add_bench_unstruct(CLI::App& bench) {
  CLI::App* sub = bench.add_subcommand("unstruct", "Shells of wedges and triangles: values and connectivity");
  sub->group(mini_apps);
  auto args = std::make_shared<Args>();
  args->store.bound = "rel=1e-4";
  args->store.outputs = {
      "raw", "hdf5", "hdf5-zlib", "hdf5-shuffle-zlib", "hdf5-zfp", "hdf5-neve-lossless", "hdf5-neve"};
  Case& c = args->options;
  CLI::Option* points = sub->add_option("--points", c.shells.points, "points of all ranks, approximately")
                            ->capture_default_str();
  sub->add_option("--points-per-rank", args->points_per_rank,
                  "points of a rank, approximately; instead of --points")
      ->excludes(points);
  add_numbers(*sub, "--roundness", args->roundness, 2,
              "exponents of Barr's superquadrics along latitudes and longitudes: 1 round, 0.2 nearly a box")
      ->capture_default_str();
  add_numbers(*sub, "--roundness-end", args->roundness_end, 2,
              "roundness of the last step (default: the same)");
  sub->add_option("--inner", c.shells.inner, "radius of the innermost layer; that of the outermost is 1")
      ->capture_default_str();
  sub->add_option("--noise-frequency", c.shells.noise_frequency, "noise cells in a unit of length")
      ->capture_default_str();
  sub->add_option("--time-frequency", c.shells.time_frequency, "noise cells for each step in time")
      ->capture_default_str();
  sub->add_option("--steps", c.steps, "number of steps; each writes two files for each output")
      ->capture_default_str();
  sub->add_option("--first-step", c.first_step, "number of the first step")->capture_default_str();
  sub->add_option("--seed", c.shells.seed, "seed of the noise")->capture_default_str();
  sub->add_option("--chunk-rows", c.chunk_rows, "HDF5 chunk of points and cells")->capture_default_str();
  add_store_options(*sub, args->store);
  sub->footer(
      "Examples:\n"
      "  mpirun -n 4 neve bench unstruct --points-per-rank 100000\n"
      "  mpirun -n 4 neve bench unstruct --steps 5 --roundness-end 0.3,0.3 --outputs hdf5-neve --keep\n"
      "  neve bench unstruct --deck case.toml --json");
  return store_command(*sub, args, run);
}

}  // namespace neve::cli
