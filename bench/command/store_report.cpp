// SPDX-License-Identifier: BSD-3-Clause
#include "bench/command/store_report.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "bench/harness/busiest.hpp"
#include "tools/common/console.hpp"
#include "tools/common/deck.hpp"

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
  if (!r.rank_bytes.empty()) {
    j["rank_bytes"] = r.rank_bytes;
    j["rank_bytes_max_over_mean"] = apps::busiest_over_mean(r.rank_bytes);
    j["rank_bytes_by"] = r.has_shared_chunks ? "owner of the chunk" : "tile";
    j["tile_bytes"] = r.alone_bytes;
    j["tile_bytes_max_over_mean"] = apps::busiest_over_mean(r.alone_bytes);
  }
  if (r.verified_values > 0) {
    j["read_seconds"] = r.read.median;
    j["read_seconds_range"] = {r.read.min, r.read.max};
    j["read_MBps"] = megabytes_per_second(r.raw_bytes, r.read.median);
    j["verified"] = {
        {"values", r.verified_values}, {"wrong", r.wrong_values}, {"max_abs_error", r.max_abs_error}};
  }
  return j;
}

// The columns that not every report has.
struct Shown {
  bool phases = false, counts = false;
};

Shown shown_of(std::span<const apps::StoreResult> results) {
  Shown shown;
  for (const apps::StoreResult& r : results) {
    shown.phases = shown.phases || r.compress_seconds;
    shown.counts = shown.counts || !r.rank_bytes.empty();
  }
  return shown;
}

std::vector<std::string> store_header(const Shown& shown) {
  std::vector<std::string> header = {"output", "file", "ratio", "write s", "MB/s"};
  if (shown.phases) header.emplace_back("compress s");
  header.insert(header.end(), {"read s", "MB/s", "largest error", "wrong"});
  if (shown.counts) header.insert(header.end(), {"busiest/mean", "alone"});
  return header;
}

std::string busiest_text(const apps::StoreResult& r) {
  return fmt::format("{:.3f}{}", apps::busiest_over_mean(r.rank_bytes), r.has_shared_chunks ? "*" : "");
}

void add_store_row(Table& table, const apps::StoreResult& r, const Shown& shown) {
  const bool was_read = r.verified_values > 0;
  const auto read = [&](std::string text) { return was_read ? text : std::string("-"); };
  std::vector<std::string> row = {r.name, human_bytes(r.file_bytes), human_ratio(r.ratio()),
                                  fmt::format("{:.3f}", r.write.median),
                                  fmt::format("{:.0f}", megabytes_per_second(r.raw_bytes, r.write.median))};
  if (shown.phases) row.push_back(fmt::format("{:.3f}", r.compress_seconds.value_or(0)));
  row.insert(row.end(), {read(fmt::format("{:.3f}", r.read.median)),
                         read(fmt::format("{:.0f}", megabytes_per_second(r.raw_bytes, r.read.median))),
                         read(human_error(r.max_abs_error)), read(std::to_string(r.wrong_values))});
  if (shown.counts) {
    row.insert(row.end(), {busiest_text(r), fmt::format("{:.3f}", apps::busiest_over_mean(r.alone_bytes))});
  }
  table.add(row);
}

constexpr const char* count_note =
    "busiest/mean rank by bytes in the file; *: chunks are of the grid, not of a rank, and each counts for "
    "the\nrank that has most of it. alone: every rank's part compressed by itself, in one piece.\n";

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
  command.add_flag("--phases", args.phases, "also measure how much of a write is compression");
  if (has_outputs) {
    command.add_flag("--no-counts", args.no_counts,
                     "do not count the bytes that each rank's part becomes, in the files and compressed by "
                     "itself");
  }
  add_report_options(command, args.report);
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
  return {args.folder, !args.no_verify, args.keep, args.repeats, args.phases, !args.no_counts};
}

nlohmann::ordered_json stores_json(std::span<const apps::StoreResult> results) {
  auto list = nlohmann::ordered_json::array();
  for (const apps::StoreResult& result : results) list.push_back(store_json(result));
  return list;
}

std::string stores_text(std::span<const apps::StoreResult> results) {
  const Shown shown = shown_of(results);
  Table table(store_header(shown));
  for (const apps::StoreResult& result : results) add_store_row(table, result, shown);
  return table.text() + (shown.counts ? count_note : "");
}

}  // namespace neve::cli
