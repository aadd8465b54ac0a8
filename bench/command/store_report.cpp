// SPDX-License-Identifier: BSD-3-Clause
#include "bench/command/store_report.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "tools/common/console.hpp"
#include "tools/common/deck.hpp"
#include "tools/common/idle_options.hpp"

namespace neve::cli {
namespace {

double megabytes_per_second(uint64_t bytes, double seconds) {
  return seconds > 0 ? static_cast<double>(bytes) / seconds / 1e6 : 0;
}

nlohmann::ordered_json store_json(const apps::StoreResult& r) {
  nlohmann::ordered_json j = {{"output", r.name},
                              {"container", r.container},
                              {"compression", r.compression},
                              {"files", r.files},
                              {"raw_bytes", r.raw_bytes},
                              {"file_bytes", r.file_bytes},
                              {"ratio", r.ratio()},
                              {"write_seconds", r.write.median},
                              {"write_seconds_range", {r.write.min, r.write.max}},
                              {"write_MBps", megabytes_per_second(r.raw_bytes, r.write.median)}};
  if (r.compress_seconds) j["compress_seconds"] = *r.compress_seconds;
  if (r.verified_values > 0) {
    j["read_seconds"] = r.read.median;
    j["read_seconds_range"] = {r.read.min, r.read.max};
    j["read_MBps"] = megabytes_per_second(r.raw_bytes, r.read.median);
    j["verified"] = {
        {"values", r.verified_values}, {"wrong", r.wrong_values}, {"max_abs_error", r.max_abs_error}};
  }
  return j;
}

void add_store_row(Table& table, const apps::StoreResult& r) {
  const bool was_read = r.verified_values > 0;
  const auto shown = [&](std::string text) { return was_read ? text : std::string("-"); };
  table.add({r.name, human_bytes(r.file_bytes), human_ratio(r.ratio()), fmt::format("{:.3f}", r.write.median),
             fmt::format("{:.0f}", megabytes_per_second(r.raw_bytes, r.write.median)),
             shown(fmt::format("{:.3f}", r.read.median)),
             shown(fmt::format("{:.0f}", megabytes_per_second(r.raw_bytes, r.read.median))),
             shown(human_error(r.max_abs_error)), shown(std::to_string(r.wrong_values))});
}

}  // namespace

void add_store_options(CLI::App& command, StoreArgs& args, bool has_outputs) {
  add_deck_option(command, args.deck, "steps = 3");
  command.option_defaults()->group("Files");
  if (has_outputs) {
    command
        .add_option("--outputs", args.outputs,
                    fmt::format("methods of storing, in turn: {}", fmt::join(apps::output_names(), ", ")))
        ->delimiter(',')
        ->capture_default_str();
  }
  command.add_option("--bound", args.bound, "bound of lossy outputs: abs=X, or rel=X of the value range")
      ->capture_default_str();
  command.add_option("--folder", args.folder, "folder in which the files are written")->capture_default_str();
  command.add_flag("--keep", args.keep,
                   has_outputs ? "keep the files, and .xdmf beside them for ParaView and VisIt; refused if a "
                                 "file of one of these names exists"
                               : "keep the files, which yt, VisIt and Neve read, and .vtkhdf beside them for "
                                 "ParaView; refused if a file of one of these names exists");
  command.option_defaults()->group("Measurement");
  command
      .add_option("--repeats", args.repeats,
                  "repetitions of each write and read; the medians of their times count")
      ->capture_default_str();
  command.add_flag("--no-verify", args.no_verify,
                   "do not read the files back, do not time the reads and do not compare values");
  command.add_flag("--phases", args.phases, "also measure how much of a write is compression (in the JSON)");
  add_report_options(command, args.report);
}

Status check_store_options(const CLI::App& command, const StoreArgs& args) {
  return refuse_idle(command, {{"--phases", args.report.json, "without --json"}});
}

Result<std::vector<apps::Output>> parse_outputs(const StoreArgs& args) {
  std::vector<apps::Output> outputs;
  for (const std::string& name : args.outputs) {
    NEVE_ASSIGN(const apps::Output output, apps::parse_output(name));
    for (const apps::Output& other : outputs) {
      if (other.name == name) return usage_error(fmt::format("output {} is given twice", name));
    }
    outputs.push_back(output);
  }
  return outputs;
}

apps::StoreOptions store_options(const StoreArgs& args) {
  return {args.folder, !args.no_verify, args.keep, args.repeats, args.phases};
}

nlohmann::ordered_json stores_json(std::span<const apps::StoreResult> results) {
  auto list = nlohmann::ordered_json::array();
  for (const apps::StoreResult& result : results) list.push_back(store_json(result));
  return list;
}

std::string stores_text(std::span<const apps::StoreResult> results) {
  Table table({"output", "file", "ratio", "write s", "MB/s", "read s", "MB/s", "largest error", "wrong"});
  for (const apps::StoreResult& result : results) add_store_row(table, result);
  return table.text();
}

}  // namespace neve::cli
