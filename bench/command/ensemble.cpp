// SPDX-License-Identifier: BSD-3-Clause
// `neve bench ensemble`: forecasts, files and LETKF in cycles, by several ways of storing.
#include "bench/command/ensemble.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "bench/apps/ensemble/benchmark.hpp"
#include "bench/command/groups.hpp"
#include "bench/command/python_benches.hpp"
#include "bench/command/report.hpp"
#include "core/catalog/choices.hpp"
#include "tools/common/console.hpp"
#include "tools/common/deck.hpp"
#include "tools/common/idle_options.hpp"
#include "tools/common/options.hpp"

namespace neve::cli {
namespace {

using Json = nlohmann::ordered_json;
using ensemble::BenchmarkResult;
using ensemble::Case;
using ensemble::CycleErrors;
using ensemble::Errors;
using ensemble::Phases;
using ensemble::WayResult;

struct Args {
  Case options;
  std::vector<std::string> ways = {"netcdf", "none", "zlib", "bzip2", "lzo", "speed", "ratio"};
  double spacing_km = 30, radius_km = 250;
  std::string effort = "fast", deck, plot;
  ReportArgs report;
  std::string result;  // as JSON, for the picture
};

Result<Case> case_of(const Args& args) {
  Case options = args.options;
  options.grid.spacing_m = args.spacing_km * 1e3;
  options.filter.radius_m = args.radius_km * 1e3;
  NEVE_ASSIGN(const Effort effort, parse_effort(args.effort));
  for (const std::string& name : args.ways) {
    NEVE_ASSIGN(ensemble::Way way, ensemble::parse_way(name));
    way.storage.effort = effort;
    options.ways.push_back(way);
  }
  return options;
}

struct PhaseColumn {
  const char* name;
  double Phases::*seconds;
};
constexpr PhaseColumn phase_columns[] = {
    {"model", &Phases::model}, {"write", &Phases::write},  {"conversion", &Phases::conversion},
    {"read", &Phases::read},   {"letkf", &Phases::filter}, {"preprocessing", &Phases::preprocessing},
};

// Of what was written against the values in members' files and revised states; less than 0 where more.
double saved_share(const BenchmarkResult& result, const WayResult& way) {
  return 1 - static_cast<double>(way.bytes()) / static_cast<double>(result.raw_bytes);
}

// Bytes per second of the ranks' storage together below which `way` takes less time than `reference`, which
// writes more: where what it saves, (b0 - b) / B, makes up for what it takes longer. Model and LETKF are the
// same for both. All of the reference's writing and conversion counts as the storage of this machine and is
// left out, none of the way's. None where it writes no less.
std::optional<double> break_even_bandwidth(const WayResult& reference, const WayResult& way) {
  if (way.bytes() >= reference.bytes()) return std::nullopt;
  const double way_seconds =
      way.seconds.write + way.seconds.conversion + way.seconds.read + way.seconds.preprocessing;
  const double reference_seconds = reference.seconds.read + reference.seconds.preprocessing;
  constexpr double clock_noise_seconds = 1e-3;
  const double more_seconds = std::max(way_seconds - reference_seconds, clock_noise_seconds);
  return static_cast<double>(reference.bytes() - way.bytes()) / more_seconds;
}

Json errors_json(const Errors& errors) {
  Json j;
  for (size_t v = 0; v < errors.size(); ++v) j[ensemble::analysed_names[v]] = errors[v];
  return j;
}

Json result_json(const Case& options, int ranks, const BenchmarkResult& result) {
  Json j = {{"ranks", ranks},
            {"members", options.members},
            {"letkf_ranks", options.filter_ranks == 0 ? ranks : options.filter_ranks},
            {"grid", {options.grid.nx, options.grid.ny, options.grid.layers}},
            {"spacing_m", options.grid.spacing_m},
            {"step_seconds", result.step_seconds},
            {"cycle_hours", options.cycle_hours},
            {"outputs", options.outputs},
            {"spinup_hours", options.spinup_hours},
            {"stations", options.stations},
            {"observations", result.observations},
            {"noise", errors_json(ensemble::observation_noise)},
            {"inflation", options.filter.inflation},
            {"radius_m", options.filter.radius_m},
            {"radius_layers", options.filter.radius_layers},
            {"delta", options.delta},
            {"seed", options.seed},
            {"raw_bytes", result.raw_bytes},
            {"cycles", Json::array()},
            {"ways", Json::array()}};
  for (const CycleErrors& cycle : result.cycles) {
    j["cycles"].push_back({{"free", errors_json(cycle.free)},
                           {"background", errors_json(cycle.background)},
                           {"analysis", errors_json(cycle.analysis)},
                           {"spread", errors_json(cycle.spread)}});
  }
  for (const WayResult& way : result.ways) {
    Json entry = {{"name", way.name},
                  {"bytes", way.bytes()},
                  {"forecast_bytes", way.forecast_bytes},
                  {"converted_bytes", way.converted_bytes},
                  {"revised_bytes", way.revised_bytes},
                  {"saved", saved_share(result, way)}};
    for (const auto& [name, seconds] : phase_columns) entry["seconds"][name] = way.seconds.*seconds;
    entry["seconds"]["total"] = way.seconds.total();
    const std::optional<double> bandwidth = break_even_bandwidth(result.ways[0], way);
    entry["break_even_MBps"] = bandwidth ? Json(*bandwidth / 1e6) : Json();
    if (options.verify) entry["verified_values"] = way.verified_values;
    j["ways"].push_back(std::move(entry));
  }
  return j;
}

std::string result_text(const Case& options, int ranks, const BenchmarkResult& result) {
  std::string text = fmt::format(
      "{} members of {} x {} x {} cells on {} ranks, {} cycles of {} h with {} outputs, {} observations "
      "each; "
      "{} of values\n\n",
      options.members, options.grid.nx, options.grid.ny, options.grid.layers, ranks, options.cycles,
      options.cycle_hours, options.outputs, result.observations, human_bytes(result.raw_bytes));
  std::vector<std::string> heads = {"way", "written", "saved"};
  for (const auto& [name, seconds] : phase_columns) heads.push_back(std::string(name) + " s");
  heads.insert(heads.end(), {"total s", "without model s", "break-even MB/s"});
  Table table(heads);
  for (const WayResult& way : result.ways) {
    std::vector<std::string> row = {way.name, human_bytes(way.bytes()),
                                    fmt::format("{:.1f} %", 100 * saved_share(result, way))};
    for (const auto& [name, seconds] : phase_columns)
      row.push_back(fmt::format("{:.3g}", way.seconds.*seconds));
    row.push_back(fmt::format("{:.3g}", way.seconds.total()));
    row.push_back(fmt::format("{:.3g}", way.seconds.total() - way.seconds.model));
    const std::optional<double> bandwidth = break_even_bandwidth(result.ways[0], way);
    row.push_back(bandwidth ? fmt::format("{:.3g}", *bandwidth / 1e6) : "-");
    table.add(row);
  }
  text += table.text();
  text += fmt::format(
      "\nBreak-even: with storage that takes fewer MB/s from these {} ranks together, the way is faster end "
      "to end "
      "than {}.\n",
      ranks, result.ways[0].name);
  text += "\nErrors against the truth, root mean square:\n";
  Table errors({"cycle", "variable", "free run", "background", "analysis", "spread"});
  for (size_t c = 0; c < result.cycles.size(); ++c) {
    for (size_t v = 0; v < ensemble::analysed_variables; ++v) {
      const CycleErrors& cycle = result.cycles[c];
      errors.add({std::to_string(c + 1), ensemble::analysed_names[v], fmt::format("{:.3g}", cycle.free[v]),
                  fmt::format("{:.3g}", cycle.background[v]), fmt::format("{:.3g}", cycle.analysis[v]),
                  fmt::format("{:.3g}", cycle.spread[v])});
    }
  }
  text += errors.text();
  if (options.verify) {
    text += "\nRead back bit for bit:\n";
    for (const WayResult& way : result.ways) {
      text += fmt::format("  {}: {} values\n", way.name, way.verified_values);
    }
  }
  return text;
}

Status check_options(const CLI::App& command, const Args& args) {
  const auto has = [&](std::initializer_list<const char*> names) {
    return std::any_of(names.begin(), names.end(), [&](const char* name) {
      return std::find(args.ways.begin(), args.ways.end(), name) != args.ways.end();
    });
  };
  return refuse_idle(
      command, {{"--delta", has({"speed", "ratio"}), "with these --ways; it is allowed with speed and ratio"},
                {"--effort", has({"bzip2", "lzo", "speed", "ratio"}),
                 "with these --ways; it is allowed with Neve's"}});
}

Status run(const Ranks& ranks, const CLI::App& command, Args& args) {
  NEVE_TRY(check_options(command, args));
  NEVE_ASSIGN(const Case options, case_of(args));
  NEVE_ASSIGN(const BenchmarkResult result, ensemble::run_benchmark(ranks.comm(), options));
  const auto json = [&] { return result_json(options, ranks.size(), result); };
  if (!args.plot.empty()) args.result = json().dump();
  return report(ranks, args.report, json, [&] { return result_text(options, ranks.size(), result); });
}

void add_case_options(CLI::App& sub, Args& args) {
  Case& options = args.options;
  add_deck_option(sub, args.deck, "members = 16");
  sub.option_defaults()->group("Cycles");
  sub.add_option("--members", options.members, "members of the ensemble")->capture_default_str();
  sub.add_option("--cycles", options.cycles, "forecasts, each followed by an analysis")
      ->capture_default_str();
  sub.add_option("--cycle-hours", options.cycle_hours, "hours of a forecast")->capture_default_str();
  sub.add_option("--outputs", options.outputs,
                 "files of each member in a forecast; each of these times is observed")
      ->capture_default_str();
  sub.add_option("--spinup-hours", options.spinup_hours, "hours that members run before the first cycle")
      ->capture_default_str();
  sub.add_option("--perturbation", options.perturbation,
                 "perturbation of the members' initial states, relative to the weather")
      ->capture_default_str();
  sub.add_option("--seed", options.seed, "seed of everything random")->capture_default_str();
}

void add_model_options(CLI::App& sub, Args& args) {
  Case& options = args.options;
  sub.option_defaults()->group("Model");
  sub.add_option("--nx", options.grid.nx, "cells along x")->capture_default_str();
  sub.add_option("--ny", options.grid.ny, "cells along y")->capture_default_str();
  sub.add_option("--layers", options.grid.layers, "layers of the model")->capture_default_str();
  sub.add_option("--spacing", args.spacing_km, "side of a cell, km")->capture_default_str();
}

void add_filter_options(CLI::App& sub, Args& args) {
  Case& options = args.options;
  sub.option_defaults()->group("LETKF");
  sub.add_option("--letkf-ranks", options.filter_ranks, "LETKF processes; 0: all ranks")
      ->capture_default_str();
  sub.add_option("--stations", options.stations, "observed columns")->capture_default_str();
  sub.add_option("--radius", args.radius_km,
                 "radius of localization, km; observations at twice this distance have no effect")
      ->capture_default_str();
  sub.add_option("--radius-layers", options.filter.radius_layers,
                 "radius of localization in the vertical, layers")
      ->capture_default_str();
  sub.add_option("--inflation", options.filter.inflation, "inflation of the background's covariance")
      ->capture_default_str();
}

void add_file_options(CLI::App& sub, Args& args) {
  Case& options = args.options;
  sub.option_defaults()->group("Files");
  sub.add_option("--ways", args.ways,
                 "ways of storing: netcdf (uncompressed files, converted to binary ones and back), none "
                 "(uncompressed), zlib (HDF5's), bzip2, lzo (Neve's B-bzip2, B-LZO), speed, ratio (Neve "
                 "chooses the method by this)")
      ->delimiter(',')
      ->capture_default_str();
  sub.add_option(
         "--delta", options.delta,
         "speed, ratio: a variable's method is chosen again when its ratio has changed by this fraction")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  sub.add_option("--effort", args.effort, "effort of Neve's ways: " + joined(effort_names, " or "))
      ->capture_default_str();
  sub.add_option("--folder", options.folder, "folder in which the files are written")->capture_default_str();
  sub.add_flag("--verify", options.verify, "read all members' files back and compare every bit");
  sub.add_flag("--keep", options.keep,
               "keep the files of the last cycle; refused if a file of one of these names exists");
}

}  // namespace

Command add_bench_ensemble(CLI::App& bench) {
  CLI::App* sub = bench.add_subcommand("ensemble", "An ensemble with data assimilation: model, files, LETKF");
  sub->group(mini_apps);
  auto args = std::make_shared<Args>();
  add_case_options(*sub, *args);
  add_model_options(*sub, *args);
  add_filter_options(*sub, *args);
  add_file_options(*sub, *args);
  add_report_options(*sub, args->report, "--plot");
  sub->add_option("--plot", args->plot, "picture of sizes, times and errors")->type_name("OUT.png");
  sub->footer(
      "Examples:\n"
      "  mpirun -n 4 neve bench ensemble --verify\n"
      "  mpirun -n 2 neve bench ensemble --nx 181 --ny 151 --ways netcdf,speed,ratio --plot ensemble.png\n"
      "  neve bench ensemble --deck case.toml --json");
  Command command = deck_command(*sub, {args, &args->deck},
                                 [args, sub](const Ranks& ranks) { return run(ranks, *sub, *args); });
  command.after = [args] {
    if (args->plot.empty()) return 0;
    return exec_bench_module("ensemble", {"-", "--plot", args->plot}, &args->result);
  };
  return command;
}

}  // namespace neve::cli
