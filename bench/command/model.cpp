// SPDX-License-Identifier: BSD-3-Clause
// `neve bench model`: the model behind `neve plan` beside what the ACB paper measured, and the fit of its
// constants.
#include "bench/command/model.hpp"

#include <fmt/format.h>

#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>

#include "bench/apps/io_model/fit.hpp"
#include "bench/command/groups.hpp"
#include "bench/command/report.hpp"
#include "tools/common/console.hpp"

namespace neve::cli {
namespace {

using io_bench::Constants;
using io_bench::Section;
using Json = nlohmann::ordered_json;

struct Args {
  bool fit = false, sensitivity = false;
  ReportArgs report;
};

double miss(double model, double paper) { return model / paper - 1; }

std::string range_text(const io_bench::Range& range) {
  return range.low == range.high ? fmt::format("{:.1f}", range.low)
                                 : fmt::format("{:.1f} to {:.1f}", range.low, range.high);
}

std::string percent(double part) { return fmt::format("{:+.0f} %", part * 100); }

// What a largest |log(model / paper)| is as a part, the way in which it is largest.
double as_part(double log_miss) { return std::exp(log_miss) - 1; }

Json factors_json(const Section& section, const Constants& constants) {
  const auto system = io_bench::with_constants(section.system, constants);
  const auto model = io_bench::ranges_of(section, system);
  Json factors = Json::array(), runs = Json::array();
  for (size_t f = 0; f < io_bench::factor_count; ++f) {
    factors.push_back(
        {{"name", io_bench::factor_names[f]},
         {"paper", {section.paper[f].low, section.paper[f].high}},
         {"model", {model[f].low, model[f].high}},
         {"miss", {miss(model[f].low, section.paper[f].low), miss(model[f].high, section.paper[f].high)}}});
  }
  for (const io_bench::Run& run : section.runs) {
    const auto [independent, collective, aggregated] = io_bench::seconds_of(run, system);
    runs.push_back(
        {{"what", run.what},
         {"stripe_count", run.striping.stripe_count},
         {"stripe_bytes", run.striping.stripe_bytes},
         {"ranks", run.ranks},
         {"seconds",
          {{"independent", independent}, {"collective", collective}, {"aggregated", aggregated}}}});
  }
  return {{"section", section.name},
          {"system", section.system},
          {"kind", section.is_fitted ? "fitted" : "predicted"},
          {"factors", factors},
          {"runs", runs}};
}

Json result_json(const std::vector<Section>& sections, const Constants& constants,
                 const std::vector<io_bench::Sensitivity>& sensitivities) {
  Json j = {{"constants", Json::object()}, {"sections", Json::array()}};
  for (size_t c = 0; c < constants.size(); ++c) j["constants"][io_bench::constant_names[c]] = constants[c];
  for (const Section& section : sections) j["sections"].push_back(factors_json(section, constants));
  for (const auto& s : sensitivities) {
    j["sensitivity"].push_back({{"constant", io_bench::constant_names[s.constant]},
                                {"factor", s.factor},
                                {"fitted_log_miss", s.fitted_miss},
                                {"predicted_log_miss", s.predicted_miss}});
  }
  return j;
}

std::string result_text(const std::vector<Section>& sections, const Constants& constants,
                        const std::vector<io_bench::Sensitivity>& sensitivities) {
  Table values({"constant", "ms"});
  for (size_t c = 0; c < constants.size(); ++c) {
    values.add({io_bench::constant_names[c], fmt::format("{:.4g}", constants[c] * 1e3)});
  }
  Table table({"section", "system", "", "factor", "paper", "model", "miss, low end", "high end"});
  Table runs({"section", "system", "run", "independent s", "collective s", "aggregated s"});
  for (const Section& section : sections) {
    const auto system = io_bench::with_constants(section.system, constants);
    const auto model = io_bench::ranges_of(section, system);
    for (size_t f = 0; f < io_bench::factor_count; ++f) {
      table.add({section.name, section.system, section.is_fitted ? "fitted" : "predicted",
                 io_bench::factor_names[f], range_text(section.paper[f]), range_text(model[f]),
                 percent(miss(model[f].low, section.paper[f].low)),
                 percent(miss(model[f].high, section.paper[f].high))});
    }
    for (const io_bench::Run& run : section.runs) {
      const auto [independent, collective, aggregated] = io_bench::seconds_of(run, system);
      runs.add({section.name, section.system, run.what, fmt::format("{:.3g}", independent),
                fmt::format("{:.3g}", collective), fmt::format("{:.3g}", aggregated)});
    }
  }
  std::string text = values.text() + "\n" + table.text() + "\n" + runs.text();
  if (sensitivities.empty()) return text;
  Table changes({"constant", "times", "largest miss, fitted", "predicted"});
  for (const auto& s : sensitivities) {
    changes.add({io_bench::constant_names[s.constant], fmt::format("{:.1f}", s.factor),
                 percent(as_part(s.fitted_miss)), percent(as_part(s.predicted_miss))});
  }
  return text + "\n" + changes.text();
}

Status run(const Args& args) {
  NEVE_ASSIGN(const std::vector<Section> sections, io_bench::paper_sections());
  Constants constants = io_bench::built_in_constants();
  if (args.fit) constants = io_bench::fit(sections, io_bench::fit_start);
  std::vector<io_bench::Sensitivity> sensitivities;
  if (args.sensitivity) sensitivities = io_bench::sensitivities(sections, constants);
  return deliver(args.report, args.report.json
                                  ? result_json(sections, constants, sensitivities).dump(2) + "\n"
                                  : result_text(sections, constants, sensitivities));
}

}  // namespace

Command add_bench_model(CLI::App& bench) {
  CLI::App* sub = bench.add_subcommand(
      "model", "The model behind neve plan beside what the ACB paper measured; the fit of its constants");
  sub->group(peer_tables);
  auto args = std::make_shared<Args>();
  sub->add_flag("--fit", args->fit,
                "fit the constants to the paper's scaling section, instead of those built in");
  sub->add_flag("--sensitivity", args->sensitivity, "also the misses with each constant 20 % off");
  add_report_options(*sub, args->report);
  sub->footer("Examples:\n  neve bench model\n  neve bench model --fit --sensitivity --json");
  Command command{sub, {}, {}};
  command.local = [args] {
    const Status status = run(*args);
    if (!status.ok()) say("bench model", status.message());
    return static_cast<int>(status.code());
  };
  return command;
}

}  // namespace neve::cli
