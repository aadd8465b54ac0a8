// SPDX-License-Identifier: BSD-3-Clause
// What a series of data files has become, for people and as data.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "io/datafile/copy.hpp"
#include "neve/choice.hpp"
#include "neve/types.hpp"

namespace neve::cli {

struct SeriesFileReport {
  std::string source, target;
  std::string source_kind;
  datafile::CopyReport made;
};

struct SeriesReport {
  size_t before = 0;                    // files that an interrupted command had done
  std::vector<SeriesFileReport> files;  // those of this command
  double seconds = 0;
};

std::string series_text(const SeriesReport& report);  // a table of the variables, over all files
std::string series_summary(const SeriesReport& report, const std::string& folder);  // a line
nlohmann::ordered_json series_json(const SeriesReport& report, const ChoiceRules& rules,
                                   const CodecTuning& tuning);

}  // namespace neve::cli
