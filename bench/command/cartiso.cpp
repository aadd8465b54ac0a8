// SPDX-License-Identifier: BSD-3-Clause
// `neve bench cartiso`: a Cartesian field and its isosurface, by several outputs.
#include "bench/command/cartiso.hpp"

#include <fmt/format.h>

#include <memory>

#include "bench/apps/cartiso/benchmark.hpp"
#include "bench/command/groups.hpp"
#include "bench/command/store_report.hpp"
#include "tools/common/console.hpp"
#include "tools/common/idle_options.hpp"

namespace neve::cli {
namespace {

using cartiso::BenchmarkResult;
using cartiso::Case;
using Json = nlohmann::ordered_json;

struct Args {
  Case options;
  StoreArgs store;
  std::vector<int> grid, chunk;
  std::vector<double> sigma, sigma_end, center, frequency;
  std::string change = "gaussmove";

  Args() {
    const cartiso::Shape& shape = options.shape;
    grid.assign(shape.points.begin(), shape.points.end());
    chunk.assign(options.chunk.begin(), options.chunk.end());
    sigma.assign(shape.sigma.begin(), shape.sigma.end());
    sigma_end.assign(shape.sigma_end.begin(), shape.sigma_end.end());
    center.assign(shape.center.begin(), shape.center.end());
    frequency.assign(shape.frequency.begin(), shape.frequency.end());
    store.bound = "rel=1e-4";
    store.outputs = {
        "raw",       "hdf5",          "hdf5-zlib", "hdf5-shuffle-zlib", "hdf5-zfp", "hdf5-neve-lossless",
        "hdf5-neve", "neve-lossless", "neve"};
  }
};

Result<Case> case_of(const Args& args) {
  Case options = args.options;
  NEVE_ASSIGN(options.shape.points, numbers<3>("--grid", args.grid));
  NEVE_ASSIGN(options.chunk, numbers<3>("--chunk", args.chunk));
  NEVE_ASSIGN(options.shape.sigma, numbers<3>("--sigma", args.sigma));
  NEVE_ASSIGN(options.shape.sigma_end, numbers<3>("--sigma-end", args.sigma_end));
  NEVE_ASSIGN(options.shape.center, numbers<3>("--center", args.center));
  NEVE_ASSIGN(options.shape.frequency, numbers<3>("--frequency", args.frequency));
  NEVE_ASSIGN(options.shape.change, cartiso::parse_change(args.change));
  NEVE_TRY(fill_store(args.store, options));
  return options;
}

Json result_json(const Args& args, const Case& c, int ranks, const BenchmarkResult& result) {
  return {{"ranks", ranks},
          {"grid", c.shape.points},
          {"steps", c.steps},
          {"change", args.change},
          {"level", c.level},
          {"seed", c.shape.seed},
          {"bound", args.store.bound},
          {"points", result.points},
          {"triangles", result.triangles},
          {"area", result.area},
          {"volume", result.volume},
          {"max_over_mean", result.max_over_mean},
          {"field_checksum", fmt::format("{:016x}", result.field_checksum)},
          {"make_seconds", result.make_seconds},
          {"extract_seconds", result.extract_seconds},
          {"grid_outputs", stores_json(result.grid)},
          {"surface_outputs", stores_json(result.surface)}};
}

std::string result_text(const Case& c, int ranks, const BenchmarkResult& result) {
  std::string text =
      fmt::format("{} x {} x {} points, {}, on {}; made in {:.3f} s\n", c.shape.points[0], c.shape.points[1],
                  c.shape.points[2], counted(static_cast<uint64_t>(c.steps), "step"),
                  counted(static_cast<uint64_t>(ranks), "rank"), result.make_seconds);
  text += stores_text(result.grid);
  text += fmt::format(
      "\nsurface at {}: {} triangles, {} points; busiest / mean rank {:.3f} by triangles; extracted in "
      "{:.3f} s\n",
      c.level, result.triangles, result.points, result.max_over_mean, result.extract_seconds);
  return text + stores_text(result.surface);
}

Status run(const Ranks& ranks, const CLI::App& command, const Args& args) {
  NEVE_ASSIGN(const Case options, case_of(args));
  const bool is_resized = options.shape.change == cartiso::Change::gaussresize;
  NEVE_TRY(
      refuse_idle(command, {{"--sigma-end", is_resized, "with this --change; it is allowed with gaussresize"},
                            {"--wave", options.shape.change != cartiso::Change::sin2gauss,
                             "with --change sin2gauss, which makes it go from 1 to 0"}}));
  NEVE_ASSIGN(const BenchmarkResult result, cartiso::run_benchmark(ranks.comm(), options));
  NEVE_TRY(report(
      ranks, args.store.report, [&] { return result_json(args, options, ranks.size(), result); },
      [&] { return result_text(options, ranks.size(), result); }));
  NEVE_TRY(apps::check_stored(result.grid).in("grid"));
  return apps::check_stored(result.surface).in("surface");
}

}  // namespace

Command add_bench_cartiso(CLI::App& bench) {
  CLI::App* sub =
      bench.add_subcommand("cartiso", "A Cartesian field and its isosurface, unbalanced by nature");
  sub->group(mini_apps);
  auto args = std::make_shared<Args>();
  Case& c = args->options;
  add_numbers(*sub, "--grid", args->grid, 3, "points along x, y, z of the unit cube")->capture_default_str();
  sub->add_option("--change", args->change,
                  "change over the steps: gaussmove (the Gaussian moves to the opposite place), gaussresize "
                  "(sigma to sigma-end) or sin2gauss (a wave becomes the Gaussian)")
      ->capture_default_str();
  sub->add_flag("--backward", c.shape.backward, "reverse the change");
  sub->add_option("--steps", c.steps,
                  "number of steps; each writes a file of the grid and one of the surface for each output")
      ->capture_default_str();
  sub->add_option("--level", c.level, "value on the isosurface")->capture_default_str();
  add_numbers(*sub, "--sigma", args->sigma, 3, "width of the Gaussian, as a part of the cube's edge")
      ->capture_default_str();
  add_numbers(*sub, "--sigma-end", args->sigma_end, 3, "sigma of the last step")->capture_default_str();
  add_numbers(*sub, "--center", args->center, 3, "center of the Gaussian")->capture_default_str();
  sub->add_option("--amplitude", c.shape.amplitude, "amplitude of the Gaussian")->capture_default_str();
  add_numbers(*sub, "--frequency", args->frequency, 3, "frequency of the wave: periods across the cube")
      ->capture_default_str();
  sub->add_option("--wave", c.shape.wave, "weight of the wave: 0 none, 1 the Gaussian is its envelope")
      ->capture_default_str();
  sub->add_option("--noise", c.shape.noise, "amplitude of the noise")->capture_default_str();
  sub->add_option("--noise-frequency", c.shape.noise_frequency, "noise cells across the cube")
      ->capture_default_str();
  sub->add_option("--seed", c.shape.seed, "seed of the noise")->capture_default_str();
  add_numbers(*sub, "--chunk", args->chunk, 3, "HDF5 chunk of the grid along x, y, z")->capture_default_str();
  sub->add_option("--chunk-rows", c.chunk_rows, "HDF5 chunk of points and triangles")->capture_default_str();
  add_store_options(*sub, args->store);
  sub->footer(
      "Plotfiles (neve, ...) hold the grid alone; the surface goes to the other outputs.\n"
      "Examples:\n"
      "  mpirun -n 4 neve bench cartiso\n"
      "  mpirun -n 4 neve bench cartiso --change sin2gauss --steps 5 --outputs hdf5,hdf5-neve --keep\n"
      "  neve bench cartiso --grid 64,64,64 --level 0.5 --json");
  return store_command(*sub, args, run);
}

}  // namespace neve::cli
