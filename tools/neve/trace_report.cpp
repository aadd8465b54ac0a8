// SPDX-License-Identifier: BSD-3-Clause
// `neve trace report`: traces and Darshan logs side by side, as tables, JSON, a picture, a page.
#include <fmt/format.h>

#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>

#include "neve/status.hpp"
#include "tools/common/console.hpp"
#include "tools/common/python.hpp"
#include "tools/neve/trace.hpp"
#include "tools/neve/trace_report_json.hpp"
#include "tools/neve/trace_summary.hpp"
#include "tools/neve/trace_tables.hpp"

namespace neve::cli {
namespace {

constexpr int64_t default_top = 20;

struct Args {
  std::vector<std::string> traces, labels;
  std::vector<std::string> patterns;
  std::string sort = "bytes";
  std::optional<int64_t> top;
  std::string plot, page;
  bool json = false;
};

std::string label_of(const Args& args, size_t index) {
  if (index < args.labels.size()) return args.labels[index];
  return std::filesystem::path(args.traces[index]).stem().string();
}

TraceSelection selection_of(const Args& args) {
  const TraceSort sort = args.sort == "time"    ? TraceSort::time
                         : args.sort == "calls" ? TraceSort::calls
                                                : TraceSort::bytes;
  return {args.patterns, sort};
}

size_t top_of(const Args& args, int64_t otherwise) {
  return static_cast<size_t>(args.top.value_or(otherwise));
}

// Replaces this process.
int draw(const Args& args, const std::vector<TraceSummary>& all) {
  std::vector<std::string> words = {"-"};
  if (!args.plot.empty()) words.insert(words.end(), {"-o", args.plot});
  if (!args.page.empty()) words.insert(words.end(), {"--html", args.page});
  words.insert(words.end(), {"--top", std::to_string(top_of(args, default_top))});
  std::string text;
  write_report_json(all, top_of(args, default_top), [&](std::string_view piece) { text += piece; });
  return exec_module("neve.trace", words, text);
}

int report(const Args& args) {
  if (args.labels.size() > args.traces.size()) {
    say("trace report", fmt::format("{} labels for {} traces; --label names them in order",
                                    args.labels.size(), args.traces.size()));
    return static_cast<int>(Code::usage);
  }
  std::vector<TraceSummary> all;
  for (size_t i = 0; i < args.traces.size(); ++i) {
    auto summary = summarize_trace(args.traces[i], label_of(args, i), selection_of(args));
    if (!summary.ok()) {
      say("trace report", summary.status().message());
      return static_cast<int>(summary.status().code());
    }
    all.push_back(std::move(*summary));
  }
  const auto print = [](std::string_view piece) { std::fwrite(piece.data(), 1, piece.size(), stdout); };
  if (args.json) {
    write_report_json(all, top_of(args, 0), print);
  } else {
    print(trace_tables(all, top_of(args, default_top)));
  }
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) {
    say("trace report", "cannot write the report to the standard output");
    return static_cast<int>(Code::failure);
  }
  return args.plot.empty() && args.page.empty() ? 0 : draw(args, all);
}

void add_options(CLI::App& sub, Args& args) {
  sub.add_option("traces", args.traces, "traces that `neve trace run` wrote; logs of Darshan")->required();
  sub.add_flag("--json", args.json, "as JSON on stdout, under Darshan's names");
  sub.add_option("--html", args.page, "a page with timeline, heatmap, sizes, files and ranks")
      ->type_name("PAGE.html");
  sub.add_option("--plot", args.plot, "picture of the distribution of write sizes, MPI-IO, POSIX, stdio")
      ->type_name("OUT.png");
  sub.add_option("--top", args.top,
                 fmt::format("files and ranks shown of each trace; 0: all ({}; --json: all)", default_top))
      ->check(CLI::NonNegativeNumber)
      ->type_name("N");
  sub.add_option("--sort", args.sort, "which come first: those with most bytes, time or calls (bytes)")
      ->check(CLI::IsMember({"bytes", "time", "calls"}))
      ->type_name("bytes|time|calls");
  sub.add_option("--file", args.patterns, "only files that match this pattern")
      ->type_name("PATTERN")
      ->allow_extra_args(false);
  sub.add_option("--label", args.labels, "names of the traces in the report, in order (their file names)")
      ->allow_extra_args(false);
}

}  // namespace

TraceCommand add_trace_report(CLI::App& parent) {
  CLI::App* sub = parent.add_subcommand("report", "Print tables of traces, side by side");
  auto args = std::make_shared<Args>();
  add_options(*sub, *args);
  sub->footer(
      "Parts that processes left beside a trace (killed, or without MPI_Finalize) are merged when it is\n"
      "read.\n"
      "Examples:\n"
      "  neve trace report trace.json --html page.html\n"
      "  neve trace report independent.json collective.json aggregated.json --file '*.h5' --plot sizes.png\n"
      "  neve trace report trace.json job.darshan     # a trace beside a log of Darshan\n"
      "  neve trace report trace.json --json");
  TraceCommand command{sub, {}};
  command.work = [args] { return report(*args); };
  return command;
}

}  // namespace neve::cli
