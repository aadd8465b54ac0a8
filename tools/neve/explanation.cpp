// SPDX-License-Identifier: BSD-3-Clause
#include "tools/neve/explanation.hpp"

#include <fmt/format.h>

#include "tools/common/console.hpp"

namespace neve::cli {
nlohmann::ordered_json explanation_json(const Explanation& explanation) {
  const SelectionReport& selection = explanation.selection;
  constexpr double nanosecond = 1e-9;
  nlohmann::ordered_json j = {{"sections", selection.sections},
                              {"raw_bytes", selection.raw_bytes},
                              {"speed_weight", explanation.tuning.speed_weight},
                              {"ratio_weight", explanation.tuning.ratio_weight},
                              {"cpu_seconds",
                               {{"weigh", nanosecond * static_cast<double>(selection.times.weigh_ns)},
                                {"losers", nanosecond * static_cast<double>(selection.times.lost_ns)},
                                {"winners", nanosecond * static_cast<double>(selection.times.won_ns)}}},
                              {"cost_share", selection.times.share()},
                              {"candidates", nlohmann::ordered_json::array()}};
  for (const size_t place : selection.listed(explanation.tuning)) {
    const CandidateSums& sums = selection.candidates[place];
    nlohmann::ordered_json candidate = {{"name", candidate_name(place)},
                                        {"score", selection.score(place, explanation.tuning)},
                                        {"estimated_raw_bytes", sums.estimated_raw_bytes},
                                        {"estimated_bytes", sums.estimated_bytes},
                                        {"coded_raw_bytes", sums.coded_raw_bytes},
                                        {"coded_bytes", sums.coded_bytes}};
    for (const Fate fate : sums.by_frequency()) {
      candidate["sections"][std::string(fate_name(fate))] = sums.sections[static_cast<size_t>(fate)];
    }
    candidate["outcome"] = sums.outcome();
    j["candidates"].push_back(std::move(candidate));
  }
  return j;
}

std::string explanation_text(const std::string& name, const Explanation& explanation) {
  const SelectionReport& selection = explanation.selection;
  if (selection.sections == 0) return fmt::format("{}: there was nothing to choose\n", name);
  const auto bytes_or_none = [](uint64_t bytes) { return bytes == 0 ? "-" : human_bytes(bytes); };
  Table table({"candidate", "score", "estimated", "coded", "outcome"}, true);
  for (const size_t place : selection.listed(explanation.tuning)) {
    const CandidateSums& sums = selection.candidates[place];
    const double score = selection.score(place, explanation.tuning);
    table.add({"  " + candidate_name(place), score > 0 ? fmt::format("{:.3f}", score) : "-",
               bytes_or_none(sums.estimated_bytes), bytes_or_none(sums.coded_bytes), sums.outcome()});
  }
  return fmt::format("{}: {} section{}, {}; choosing took {:.1f} % of the encoder's time\n", name,
                     selection.sections, selection.sections == 1 ? "" : "s", human_bytes(selection.raw_bytes),
                     100 * selection.times.share()) +
         table.text();
}

std::string explanations_text(const WriteReport& report) {
  std::string text;
  for (size_t level = 0; level < report.levels.size(); ++level) {
    for (const FieldReport& field : report.levels[level].fields) {
      if (!field.explanation) continue;
      text += '\n';
      text += explanation_text(fmt::format("level {} {}", level, field.name), *field.explanation);
    }
  }
  return text;
}

}  // namespace neve::cli
