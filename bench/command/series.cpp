// SPDX-License-Identifier: BSD-3-Clause
// `neve bench series`: made series whose best method changes at known steps, as they are chosen for and as
// the best method of each step by force.
#include "bench/command/series.hpp"

#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "bench/apps/series/trial.hpp"
#include "bench/command/groups.hpp"
#include "bench/command/report.hpp"
#include "tools/common/console.hpp"

namespace neve::cli {
namespace {

using series::MadeSeries;
using series::Trial;
using series::TrialOptions;
using Json = nlohmann::ordered_json;

constexpr double deltas[] = {0, 0.01, 0.1, 1};
struct Weights {
  double ratio, speed;
};
constexpr Weights all_weights[] = {{1, 0}, {0, 1}, {1, 1}};

struct Args {
  std::vector<double> mebibytes = {0.4, 4};
  std::string candidates = "all", dtype = "f32", speeds = "typical";
  uint64_t pieces = 1;
  double delta = ChoiceRules{}.delta;
  ReportArgs report;
};

struct Row {
  double mebibytes;
  std::string_view series;
  Weights weights;
  Trial trial;
  std::vector<int> changes_by_delta;
};

Result<TrialOptions> trial_options(const Args& args, double mebibytes) {
  TrialOptions options;
  NEVE_ASSIGN(options.tuning.candidates, parse_lossless_methods(args.candidates));
  NEVE_ASSIGN(options.rules.speeds, parse_speeds(args.speeds));
  options.rules.delta = args.delta;
  options.dtype = args.dtype == "f64" ? DType::f64 : DType::f32;
  options.step_bytes = static_cast<uint64_t>(mebibytes * (1 << 20));
  options.pieces = args.pieces;
  return options;
}

Result<Row> measure(const MadeSeries& made, TrialOptions options, double mebibytes, Weights weights,
                    series::ForcedBytes& forced) {
  options.tuning.ratio_weight = weights.ratio;
  options.tuning.speed_weight = weights.speed;
  Row row{mebibytes, made.name, weights, {}, {}};
  NEVE_ASSIGN(row.trial, series::run_trial(made, options, &forced));
  for (const double delta : deltas) {
    options.rules.delta = delta;
    NEVE_ASSIGN(const Trial trial, series::run_trial(made, options, nullptr));
    row.changes_by_delta.push_back(trial.changes());
  }
  return row;
}

Result<std::vector<Row>> measure_all(const Args& args) {
  std::vector<Row> rows;
  for (const double mebibytes : args.mebibytes) {
    NEVE_ASSIGN(const TrialOptions options, trial_options(args, mebibytes));
    series::ForcedBytes forced;
    for (const MadeSeries& made : series::made_series) {
      for (const Weights weights : all_weights) {
        NEVE_ASSIGN(Row row, measure(made, options, mebibytes, weights, forced));
        rows.push_back(std::move(row));
      }
    }
  }
  return rows;
}

Json result_json(const Args& args, const std::vector<Row>& rows) {
  Json j = {{"candidates", args.candidates}, {"dtype", args.dtype}, {"pieces", args.pieces},
            {"speeds", args.speeds},         {"delta", args.delta}, {"steps", series::made_steps},
            {"rows", Json::array()}};
  for (const Row& row : rows) {
    Json changes = Json::array();
    for (size_t d = 0; d < row.changes_by_delta.size(); ++d)
      changes.push_back({{"delta", deltas[d]}, {"changes", row.changes_by_delta[d]}});
    j["rows"].push_back({{"mebibytes", row.mebibytes},
                         {"series", row.series},
                         {"ratio_weight", row.weights.ratio},
                         {"speed_weight", row.weights.speed},
                         {"steps_unseen", row.trial.steps_unseen()},
                         {"least_score_share", row.trial.least_score_share()},
                         {"mean_score_share", row.trial.mean_score_share()},
                         {"choosing_share", row.trial.choosing_share()},
                         {"changes", row.trial.changes()},
                         {"changes_by_delta", changes}});
  }
  return j;
}

std::string result_text(const std::vector<Row>& rows) {
  Table table({"MiB", "series", "WCR/WCS", "steps unseen", "least score", "mean score", "choosing %",
               "chosen again", "by delta 0, 1, 10, 100 %"});
  for (const Row& row : rows) {
    const std::vector<int>& c = row.changes_by_delta;
    table.add(
        {fmt::format("{:g}", row.mebibytes), std::string(row.series),
         fmt::format("{:g}/{:g}", row.weights.ratio, row.weights.speed),
         fmt::format("{}", row.trial.steps_unseen()), fmt::format("{:.3f}", row.trial.least_score_share()),
         fmt::format("{:.3f}", row.trial.mean_score_share()),
         fmt::format("{:.1f}", 100 * row.trial.choosing_share()), fmt::format("{}", row.trial.changes()),
         fmt::format("{}, {}, {}, {}", c[0], c[1], c[2], c[3])});
  }
  return table.text();
}

Status run(const Args& args) {
  NEVE_ASSIGN(const std::vector<Row> rows, measure_all(args));
  return deliver(args.report, args.report.json ? result_json(args, rows).dump(2) + "\n" : result_text(rows));
}

}  // namespace

Command add_bench_series(CLI::App& bench) {
  CLI::App* sub = bench.add_subcommand(
      "series", "Choices for made series of steps against the best method of each step by force");
  sub->group(peer_tables);
  auto args = std::make_shared<Args>();
  sub->add_option("--mb", args->mebibytes, "sizes of a step in MiB")
      ->check(CLI::Range(0.01, 1024.0))
      ->delimiter(',')
      ->capture_default_str();
  sub->add_option("--candidates", args->candidates, "all, acomps, or names of methods with + between them")
      ->capture_default_str();
  sub->add_option("--dtype", args->dtype, "type of the values")
      ->check(CLI::IsMember({"f32", "f64"}))
      ->capture_default_str();
  sub->add_option("--pieces", args->pieces, "pieces of a step")
      ->check(CLI::Range(1, 64))
      ->capture_default_str();
  sub->add_option("--speeds", args->speeds, "in scores: typical or measured")
      ->check(CLI::IsMember({"typical", "measured"}))
      ->capture_default_str();
  sub->add_option("--delta", args->delta, "of the scores and shares; re-choices are also counted by others")
      ->check(CLI::Range(0.0, 1000.0))
      ->capture_default_str();
  add_report_options(*sub, args->report);
  sub->footer("Examples:\n  neve bench series\n  neve bench series --mb 0.1 --candidates acomps --json");
  Command command{sub, {}, {}};
  command.local = [args] {
    const Status status = run(*args);
    if (!status.ok()) say("bench series", status.message());
    return static_cast<int>(status.code());
  };
  return command;
}

}  // namespace neve::cli
