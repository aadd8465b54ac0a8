// SPDX-License-Identifier: BSD-3-Clause
// `neve bench ensemble`: forecasts, files and LETKF in cycles, by several methods of storing.
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
using ensemble::MethodResult;
using ensemble::Phases;

struct Args {
  Case options;
  std::vector<std::string> methods = {"netcdf", "none", "zlib", "bzip2", "lzo", "speed", "ratio"};
  double spacing_km = 60, radius_km = 400, storage_megabytes = 0;
  std::string effort = "fast", deck, plot;
  ReportArgs report;
  std::string result;  // as JSON, for the picture
};

Result<Case> case_of(const Args& args) {
  Case options = args.options;
  options.grid.spacing_m = args.spacing_km * 1e3;
  options.filter.radius_m = args.radius_km * 1e3;
  options.storage_bytes_per_second = args.storage_megabytes * 1e6;
  NEVE_ASSIGN(const Effort effort, parse_effort(args.effort));
  for (const std::string& name : args.methods) {
    NEVE_ASSIGN(ensemble::Method method, ensemble::parse_method(name));
    method.storage.effort = effort;
    options.methods.push_back(method);
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
double saved_share(const BenchmarkResult& result, const MethodResult& method) {
  return 1 - static_cast<double>(method.bytes()) / static_cast<double>(result.raw_bytes);
}

// Bytes per second of the ranks' storage together below which `method` takes less time than `reference`,
// which writes more: where what it saves, (b0 - b) / B, makes up for what it takes longer. Model and LETKF
// are the same for both. All of the reference's writing and conversion counts as the storage of this machine
// and is left out, none of the method's. None where it writes no less.
std::optional<double> break_even_bandwidth(const MethodResult& reference, const MethodResult& method) {
  if (method.bytes() >= reference.bytes()) return std::nullopt;
  const double method_seconds =
      method.seconds.write + method.seconds.conversion + method.seconds.read + method.seconds.preprocessing;
  const double reference_seconds = reference.seconds.read + reference.seconds.preprocessing;
  constexpr double clock_noise_seconds = 1e-3;
  const double more_seconds = std::max(method_seconds - reference_seconds, clock_noise_seconds);
  return static_cast<double>(reference.bytes() - method.bytes()) / more_seconds;
}

// End to end, with what imitated storage adds.
double total_seconds(const MethodResult& method) { return method.seconds.total() + method.imitated.total(); }

double conversion_share(const MethodResult& method) {
  return (method.seconds.conversion + method.imitated.conversion) / total_seconds(method);
}

Json phases_json(const Phases& phases) {
  Json j;
  for (const auto& [name, seconds] : phase_columns) j[name] = phases.*seconds;
  j["total"] = phases.total();
  return j;
}

Json choice_json(const Choice& choice) {
  Json j = {{"variable", choice.variable},
            {"step", choice.step},
            {"method", lossless_method_name(choice.selection.method)},
            {"reason", choice_reason_name(choice.reason)},
            {"performance", choice.performance},
            {"estimate", choice.estimate},
            {"raw_bytes", choice.raw_bytes},
            {"coded_bytes", choice.coded_bytes},
            {"choosing_seconds", 1e-9 * static_cast<double>(choice.choosing_ns)},
            {"coding_seconds", 1e-9 * static_cast<double>(choice.coding_ns)}};
  if (choice.rival.codec == Codec::lossless) {
    j["rival"] = lossless_method_name(choice.rival.method);
    j["rival_estimate"] = choice.rival_estimate;
  }
  return j;
}

Json errors_json(const Errors& errors) {
  Json j;
  for (size_t v = 0; v < errors.size(); ++v) j[ensemble::analysed_names[v]] = errors[v];
  return j;
}

Json inflation_json(const ensemble::GroupInflation& inflation) {
  Json j;
  for (size_t g = 0; g < inflation.size(); ++g) j[ensemble::analysis_group_names[g]] = inflation[g];
  return j;
}

Json method_json(const Case& options, const BenchmarkResult& result, const MethodResult& method) {
  Json entry = {{"name", method.name},
                {"bytes", method.bytes()},
                {"forecast_bytes", method.forecast_bytes},
                {"converted_bytes", method.converted_bytes},
                {"revised_bytes", method.revised_bytes},
                {"saved", saved_share(result, method)},
                {"seconds", phases_json(method.seconds)}};
  if (options.storage_bytes_per_second > 0) entry["imitated_seconds"] = phases_json(method.imitated);
  entry["total_seconds"] = total_seconds(method);
  entry["conversion_share"] = conversion_share(method);
  const std::optional<double> bandwidth = break_even_bandwidth(result.methods[0], method);
  entry["break_even_MBps"] = bandwidth ? Json(*bandwidth / 1e6) : Json();
  if (options.verify) entry["verified_values"] = method.verified_values;
  if (method.choices.empty()) return entry;
  entry["choices"] = Json::array();
  for (const Choice& choice : method.choices) entry["choices"].push_back(choice_json(choice));
  return entry;
}

Json result_json(const Case& options, int ranks, const BenchmarkResult& result) {
  Json j = {{"ranks", ranks},
            {"members", options.members},
            {"member_ranks", result.member_ranks},
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
            {"max_inflation", options.filter.max_inflation},
            {"relaxation", options.filter.relaxation},
            {"radius_m", options.filter.radius_m},
            {"radius_layers", options.filter.radius_layers},
            {"thickness_for_winds", options.filter.thickness_for_winds},
            {"winds_for_thickness", options.filter.winds_for_thickness},
            {"weight_spacing", options.filter.weight_spacing},
            {"delta", options.delta},
            {"seed", options.seed},
            {"storage_MBps",
             options.storage_bytes_per_second > 0 ? Json(options.storage_bytes_per_second / 1e6) : Json()},
            {"raw_bytes", result.raw_bytes},
            {"cycles", Json::array()},
            {"methods", Json::array()}};
  for (const CycleErrors& cycle : result.cycles) {
    j["cycles"].push_back({{"free", errors_json(cycle.free)},
                           {"background", errors_json(cycle.background)},
                           {"analysis", errors_json(cycle.analysis)},
                           {"background_spread", errors_json(cycle.background_spread)},
                           {"analysis_spread", errors_json(cycle.analysis_spread)},
                           {"inflation", inflation_json(cycle.inflation)}});
  }
  for (const MethodResult& method : result.methods) {
    j["methods"].push_back(method_json(options, result, method));
  }
  return j;
}

std::string method_table(const Case& options, const BenchmarkResult& result) {
  const bool is_imitated = options.storage_bytes_per_second > 0;
  std::vector<std::string> heads = {"method", "written", "saved"};
  for (const auto& [name, seconds] : phase_columns) heads.push_back(std::string(name) + " s");
  if (is_imitated) heads.emplace_back("of it imitated s");
  heads.insert(heads.end(), {"total s", "conversion", "break-even MB/s"});
  Table table(heads);
  for (const MethodResult& method : result.methods) {
    std::vector<std::string> row = {method.name, human_bytes(method.bytes()),
                                    fmt::format("{:.1f} %", 100 * saved_share(result, method))};
    for (const auto& [name, seconds] : phase_columns)
      row.push_back(fmt::format("{:.3g}", method.seconds.*seconds + method.imitated.*seconds));
    if (is_imitated) row.push_back(fmt::format("{:.3g}", method.imitated.total()));
    row.push_back(fmt::format("{:.3g}", total_seconds(method)));
    row.push_back(fmt::format("{:.1f} %", 100 * conversion_share(method)));
    const std::optional<double> bandwidth = break_even_bandwidth(result.methods[0], method);
    row.push_back(bandwidth ? fmt::format("{:.3g}", *bandwidth / 1e6) : "-");
    table.add(row);
  }
  return table.text();
}

std::string error_table(const BenchmarkResult& result) {
  Table errors({"cycle", "variable", "free run", "background", "its spread", "analysis", "its spread"});
  for (size_t c = 0; c < result.cycles.size(); ++c) {
    for (size_t v = 0; v < ensemble::analysed_variables; ++v) {
      const CycleErrors& cycle = result.cycles[c];
      std::vector<std::string> row = {std::to_string(c + 1), ensemble::analysed_names[v]};
      for (const double value : {cycle.free[v], cycle.background[v], cycle.background_spread[v],
                                 cycle.analysis[v], cycle.analysis_spread[v]}) {
        row.push_back(fmt::format("{:.3g}", value));
      }
      errors.add(row);
    }
  }
  return errors.text();
}

std::string result_text(const Case& options, int ranks, const BenchmarkResult& result) {
  std::string text = fmt::format(
      "{} of {} x {} x {} cells on {}, {} a member, {} of {} h with {}, {} each; "
      "{} of values\n\n",
      counted(static_cast<uint64_t>(options.members), "member"), options.grid.nx, options.grid.ny,
      options.grid.layers, counted(static_cast<uint64_t>(ranks), "rank"),
      counted(static_cast<uint64_t>(result.member_ranks), "rank"),
      counted(static_cast<uint64_t>(options.cycles), "cycle"), options.cycle_hours,
      counted(static_cast<uint64_t>(options.outputs), "output"),
      counted(static_cast<uint64_t>(result.observations), "observation"), human_bytes(result.raw_bytes));
  text += method_table(options, result);
  if (options.storage_bytes_per_second > 0) {
    text += fmt::format(
        "\nStorage of {:g} MB/s for all ranks is imitated: to the measured time of each phase, all bytes it "
        "read and wrote over that bandwidth are added.\n",
        options.storage_bytes_per_second / 1e6);
  }
  text += fmt::format(
      "\nBreak-even: with storage that takes fewer MB/s from these {} ranks together, the method is faster "
      "end to end than {}; by the measured times alone.\n",
      ranks, result.methods[0].name);
  text +=
      "\nErrors of the members' mean against the truth, root mean square, and the members' spread around it:"
      "\n";
  text += error_table(result);
  if (options.verify) {
    text += "\nRead back bit for bit:\n";
    for (const MethodResult& method : result.methods) {
      text += fmt::format("  {}: {} values\n", method.name, method.verified_values);
    }
  }
  return text;
}

Status check_options(const CLI::App& command, const Args& args) {
  bool codes = false, chooses = false;
  for (const std::string& name : args.methods) {
    NEVE_ASSIGN(const ensemble::Method method, ensemble::parse_method(name));
    codes = codes || method.storage.kind == ensemble::Storage::Kind::neve;
    chooses = chooses || ensemble::is_chosen(method);
  }
  return refuse_idle(command,
                     {{"--delta", chooses,
                       "with these --methods; it is allowed with those that choose, as speed and ratio do"},
                      {"--effort", codes, "with these --methods; it is allowed with Neve's"}});
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
  sub.add_option("--member-ranks", options.member_ranks,
                 "ranks that share a member, by bands of rows; 0: as many as there are for each, at least 1")
      ->capture_default_str();
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
  sub.add_option("--thickness-for-winds", options.filter.thickness_for_winds,
                 "weight, 0 to 1, of observed thickness in the analysis of winds")
      ->capture_default_str();
  sub.add_option("--winds-for-thickness", options.filter.winds_for_thickness,
                 "weight, 0 to 1, of observed winds in the analysis of thickness")
      ->capture_default_str();
  sub.add_option("--weight-spacing", options.filter.weight_spacing,
                 "cells between places with members' weights of their own; others interpolate")
      ->capture_default_str();
  sub.add_option("--inflation", options.filter.inflation, "least inflation of the background's covariance")
      ->capture_default_str();
  sub.add_option("--max-inflation", options.filter.max_inflation,
                 "most inflation; between the two it is estimated from the observations")
      ->capture_default_str();
  sub.add_option("--relaxation", options.filter.relaxation,
                 "of the analysis' spread to the background's: 0 not at all, 1 to the whole of it")
      ->capture_default_str();
}

void add_file_options(CLI::App& sub, Args& args) {
  Case& options = args.options;
  sub.option_defaults()->group("Files");
  sub.add_option("--methods", args.methods,
                 "methods of storing: netcdf (uncompressed files, converted to binary ones and back), none "
                 "(uncompressed), zlib (HDF5's), bzip2, lzo (Neve's B-bzip2, B-LZO), speed, ratio (Neve "
                 "chooses the lossless method by this), acomps-speed, acomps-ratio (among ACOMPS' nine), "
                 "ratio:METHOD+METHOD... (among these)")
      ->delimiter(',')
      ->capture_default_str();
  sub.add_option(
         "--delta", options.delta,
         "of methods that choose (speed, ratio, acomps-*, ratio:...): a variable's lossless method is chosen "
         "again when its performance has changed by this fraction, or another is estimated to perform better "
         "by more than 0.4 of it")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  sub.add_option("--effort", args.effort, "effort of Neve's methods: " + joined(effort_names, " or "))
      ->capture_default_str();
  sub.add_option("--storage", args.storage_megabytes,
                 "imitate storage of so many MB/s for all ranks together: bytes over it are added to times")
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
      "  mpirun -n 2 neve bench ensemble --nx 181 --ny 151 --members 4 --methods netcdf,speed,ratio --plot "
      "ensemble.png\n"
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
