// SPDX-License-Identifier: BSD-3-Clause
#include "tools/neve/series_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "io/datafile/choice_log.hpp"
#include "neve/series.hpp"
#include "tools/common/console.hpp"
#include "tools/neve/data_file.hpp"

namespace neve::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr double second_ns = 1e9;

// One variable over all files that have it.
struct Sum {
  uint64_t files = 0, raw_bytes = 0, stored_before = 0, stored_bytes = 0;
  uint64_t unchanged = 0;                   // in so many files
  std::map<std::string, uint64_t> methods;  // chunks
  double encode_seconds = 0;
  std::map<ChoiceReason, uint64_t> choices;  // without those that were kept
};

struct Sums {
  std::vector<std::string> order;  // as the files have them
  std::map<std::string, Sum> of;
};

Sums sums_of(const SeriesReport& report) {
  Sums sums;
  for (const SeriesFileReport& file : report.files) {
    for (const datafile::VariableReport& v : file.made.variables) {
      if (!sums.of.contains(v.path)) sums.order.push_back(v.path);
      Sum& sum = sums.of[v.path];
      ++sum.files;
      sum.raw_bytes += v.raw_bytes;
      sum.stored_before += v.stored_before;
      sum.stored_bytes += v.stored_now;
      sum.unchanged += !v.is_coded;
      sum.encode_seconds += v.encode_seconds;
      for (const auto& [method, chunks] : v.methods) sum.methods[method] += chunks;
    }
    for (const auto& [choice, effort, tuning, is_coded] : file.made.choices) {
      if (is_coded && choice.reason != ChoiceReason::none) ++sums.of[choice.variable].choices[choice.reason];
    }
  }
  return sums;
}

std::string choices_text(const Sum& sum) {
  uint64_t all = 0;
  std::string reasons;
  for (const auto& [reason, count] : sum.choices) {
    all += count;
    reasons += fmt::format("{}{} {}", reasons.empty() ? "" : ", ", count, choice_reason_name(reason));
  }
  return all == 0 ? "-" : fmt::format("{} ({})", all, reasons);
}

std::string methods_of(const Sum& sum) {
  const std::string coded = methods_text(sum.methods);
  if (sum.unchanged == 0) return coded;
  const std::string unchanged = fmt::format("copied unchanged in {}", counted(sum.unchanged, "file"));
  return sum.methods.empty() ? unchanged : fmt::format("{}; {}", coded, unchanged);
}

uint64_t source_bytes(const SeriesReport& report) {
  uint64_t bytes = 0;
  for (const SeriesFileReport& file : report.files) bytes += file.made.source_bytes;
  return bytes;
}

uint64_t target_bytes(const SeriesReport& report) {
  uint64_t bytes = 0;
  for (const SeriesFileReport& file : report.files) bytes += file.made.target_bytes;
  return bytes;
}

double ratio_of(uint64_t before, uint64_t now) {
  return now > 0 ? static_cast<double>(before) / static_cast<double>(now) : 0;
}

// By what a variable with settings of its own was chosen.
Json weights_json(const CodecTuning& tuning) {
  return {{"candidates", lossless_methods_text(tuning.candidates)},
          {"speed_weight", tuning.speed_weight},
          {"ratio_weight", tuning.ratio_weight}};
}

Json choice_json(const Choice& choice, const std::string& file) {
  Json j = {{"file", file},
            {"variable", choice.variable},
            {"level", choice.level},
            {"step", choice.step},
            {"method", selection_name(choice.selection)},
            {"reason", choice_reason_name(choice.reason)},
            {"performance", choice.performance},
            {"estimate", choice.estimate},
            {"rival", selection_name(choice.rival)},
            {"rival_estimate", choice.rival_estimate},
            {"raw_bytes", choice.raw_bytes},
            {"coded_bytes", choice.coded_bytes}};
  j["choosing_seconds"] = static_cast<double>(choice.choosing_ns) / second_ns;
  j["coding_seconds"] = static_cast<double>(choice.coding_ns) / second_ns;
  return j;
}

}  // namespace

std::string series_text(const SeriesReport& report) {
  const Sums sums = sums_of(report);
  Table table({"variable", "files", "raw", "before", "now", "ratio", "s", "choices", "methods of chunks"},
              true);
  for (const std::string& path : sums.order) {
    const Sum& sum = sums.of.at(path);
    table.add({path, std::to_string(sum.files), human_bytes(sum.raw_bytes), human_bytes(sum.stored_before),
               human_bytes(sum.stored_bytes),
               sum.stored_bytes > 0 ? human_ratio(ratio_of(sum.raw_bytes, sum.stored_bytes)) : "-",
               fmt::format("{:.2f}", sum.encode_seconds), choices_text(sum), methods_of(sum)});
  }
  std::vector<std::string> small;
  for (const std::string& path : sums.order) {
    const Sum& sum = sums.of.at(path);
    if (sum.methods.size() > 0 && sum.stored_bytes > sum.raw_bytes) small.push_back(path);
  }
  return table.text() + small_variables_text(small);
}

std::string series_summary(const SeriesReport& report, const std::string& folder) {
  const uint64_t before = source_bytes(report), now = target_bytes(report);
  std::string text = fmt::format("{}: {}", folder, counted(report.before + report.files.size(), "file"));
  if (report.before > 0) text += fmt::format(", {} of them done before", report.before);
  return text + fmt::format(": {} -> {}, {}, {:.2f} s\n", human_bytes(before), human_bytes(now),
                            human_change(ratio_of(before, now)), report.seconds);
}

Json series_json(const SeriesReport& report, const ChoiceRules& rules, const CodecTuning& tuning) {
  Json j = {{"rules",
             {{"candidates", lossless_methods_text(tuning.candidates)},
              {"delta", rules.delta},
              {"speeds", speeds_name(rules.speeds)},
              {"speed_weight", tuning.speed_weight},
              {"ratio_weight", tuning.ratio_weight}}},
            {"own_rules", Json::object()},
            {"files_done_before", report.before},
            {"source_bytes", source_bytes(report)},
            {"stored_bytes", target_bytes(report)},
            {"ratio", ratio_of(source_bytes(report), target_bytes(report))},
            {"files", Json::array()},
            {"choices", Json::array()}};
  for (const SeriesFileReport& file : report.files) {
    Json of_file = {{"source", file.source}, {"source_kind", file.source_kind}, {"destination", file.target}};
    of_file.update(copy_report_json(file.made));
    j["files"].push_back(std::move(of_file));
    for (const auto& [choice, effort, of_variable, is_coded] : file.made.choices) {
      if (!is_coded) continue;
      j["choices"].push_back(choice_json(choice, file.target));
      if (!datafile::is_chosen_alike(of_variable, tuning))
        j["own_rules"][choice.variable] = weights_json(of_variable);
    }
  }
  j["seconds"] = {{"total", report.seconds}};
  return j;
}

}  // namespace neve::cli
