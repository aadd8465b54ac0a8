// SPDX-License-Identifier: BSD-3-Clause
// What a bench found, as text or as JSON: on stdout of the first rank, and in the file of -o.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "tools/common/ranks.hpp"

namespace neve::cli {

// As they were typed.
struct ReportArgs {
  bool json = false;
  std::string output;
};

// --json and -o, in a group of their own. A name for -o that cannot be a report's is refused, and told where
// pictures go by `plot`, the bench's option for them.
void add_report_options(CLI::App& command, ReportArgs& args, const char* plot = nullptr);

// Not collective. Prints the report, and writes it where -o says.
Status deliver(const ReportArgs& args, const std::string& report);

// Collective. Only what is wanted is made: `json` returns an nlohmann JSON value, `text` lines.
template <class Json, class Text>
Status report(const Ranks& ranks, const ReportArgs& args, Json json, Text text) {
  return ranks.on_first("report", [&] { return deliver(args, args.json ? json().dump(2) + "\n" : text()); });
}

}  // namespace neve::cli
