// SPDX-License-Identifier: BSD-3-Clause
// `neve bench layouts`: one plotfile by the layouts that AMRIC's section 3.3 discusses, and Neve's.
#include "bench/command/layouts.hpp"

#include <fmt/format.h>

#include <charconv>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <span>

#include "bench/apps/layouts/benchmark.hpp"
#include "bench/command/groups.hpp"
#include "io/files/temporary_file.hpp"
#include "tools/common/console.hpp"
#include "tools/common/idle_options.hpp"
#include "tools/common/ranks.hpp"

namespace neve::cli {
namespace {

using layouts::BenchmarkResult;
using layouts::Case;
using layouts::Row;
using Json = nlohmann::ordered_json;

struct Args {
  Case options;
  std::vector<std::string> ways = layouts::default_ways();
  std::string copies = "1", json;
};

// Empty where the figures may go there; looked at before anything is measured.
std::string what_is_wrong(const std::string& name) {
  return name == "-" ? "" : files::TemporaryFile::check(name).message();
}

// "ranks" is a copy for each rank.
Result<int> parse_copies(const std::string& text, int ranks) {
  if (text == "ranks") return ranks;
  int copies = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), copies);
  if (error != std::errc() || end != text.data() + text.size()) {
    return usage_error(fmt::format("--copies is '{}'; a whole number, or 'ranks', is allowed", text));
  }
  return copies;
}

Result<Case> case_of(const Ranks& ranks, const CLI::App& command, const Args& args) {
  Case options = args.options;
  bool is_compressed = false;
  for (const std::string& text : args.ways) {
    NEVE_ASSIGN(const layouts::Way way, layouts::parse_way(text));
    is_compressed = is_compressed || way.is_compressed();
    options.ways.push_back(way);
  }
  NEVE_TRY(refuse_idle(command, {{"--rel", is_compressed, "with --ways nocomp alone"}}));
  NEVE_ASSIGN(options.copies, parse_copies(args.copies, ranks.size()));
  return options;
}

Json row_json(const Row& row, uint64_t raw_bytes, bool verified) {
  Json j = {{"way", row.way}, {"stored_bytes", nullptr}, {"raw_bytes", raw_bytes}, {"error", nullptr}};
  if (!row.error.ok()) {
    j["error"] = row.error.message();
    return j;
  }
  j["stored_bytes"] = row.stored_bytes;
  j["dataset_bytes"] = row.dataset_bytes;
  j["datasets"] = row.datasets;
  j["filter_calls"] = row.filter_calls;
  j["seconds"] = {{"prepare", row.seconds.prepare},
                  {"encode", row.seconds.encode},
                  {"write", row.seconds.write},
                  {"sync", row.seconds.sync},
                  {"total", row.seconds.total}};
  j["spread"] = {row.least_seconds, row.most_seconds};
  j["call_seconds"] = row.call_seconds;
  j["compared_values"] = verified ? Json(row.compared) : Json(nullptr);
  j["violations"] = verified ? Json(row.violations) : Json(nullptr);
  return j;
}

Json result_json(const Case& c, int ranks, const BenchmarkResult& result) {
  Json j = {{"file", c.file},
            {"ranks", ranks},
            {"rel", c.rel},
            {"copies", c.copies},
            {"fields", c.fields},
            {"repeats", c.repeats},
            {"unit", result.unit_cells},
            {"rows", Json::array()}};
  for (const Row& row : result.rows) j["rows"].push_back(row_json(row, result.raw_bytes, c.verify));
  return j;
}

std::string result_text(const Case& c, int ranks, const BenchmarkResult& result) {
  std::string text =
      fmt::format("{}: {} on {}; bound rel={}, AMRIC's unit blocks {}, {}\n\n", c.file,
                  human_bytes(result.raw_bytes), counted(static_cast<uint64_t>(ranks), "rank"), c.rel,
                  result.unit_cells, counted(static_cast<uint64_t>(c.repeats), "repeat"));
  Table table({"way", "file", "ratio", "values", "datasets", "calls", "prepare s", "encode s", "write s",
               "sync s", "total s", "from", "to", "waits s", "wrong"});
  const auto shown = [](double seconds) { return fmt::format("{:.4f}", seconds); };
  std::string errors;
  for (const Row& row : result.rows) {
    if (!row.error.ok()) {
      errors += fmt::format("{}: {}\n", row.way, row.error.message());
      continue;
    }
    table.add({row.way, human_bytes(row.stored_bytes),
               human_ratio(static_cast<double>(result.raw_bytes) / static_cast<double>(row.stored_bytes)),
               human_bytes(row.dataset_bytes), std::to_string(row.datasets), std::to_string(row.filter_calls),
               shown(row.seconds.prepare), shown(row.seconds.encode), shown(row.seconds.write),
               shown(row.seconds.sync), shown(row.seconds.total), shown(row.least_seconds),
               shown(row.most_seconds), shown(row.call_seconds),
               c.verify ? std::to_string(row.violations) : "-"});
  }
  return text + table.text() + (errors.empty() ? "" : "\n" + errors);
}

// Not collective. The table, unless stdout is to have the JSON.
Status deliver(const Args& args, const std::string& json, const std::string& text) {
  std::cout << (args.json == "-" ? json : text) << std::flush;
  if (args.json.empty() || args.json == "-") return {};
  return files::write_file(args.json, std::as_bytes(std::span(json)));
}

// What the exit code says: the first way that ended in an error, or broke a bound.
Status outcome(const BenchmarkResult& result) {
  for (const Row& row : result.rows) {
    if (!row.error.ok()) return row.error.in("way " + row.way);
  }
  for (const Row& row : result.rows) {
    if (row.violations == 0) continue;
    return {Code::bound_violated, fmt::format("way {}: {} of {} values are not within their bounds", row.way,
                                              row.violations, row.compared)};
  }
  return {};
}

Status run(const Ranks& ranks, const CLI::App& command, const Args& args) {
  NEVE_ASSIGN(Case options, case_of(ranks, command, args));
  BenchmarkResult result;
  {
    Progress progress(ranks.first());
    options.progress = [&](const std::string& way, double fraction) { progress.show(way, fraction); };
    NEVE_ASSIGN(result, layouts::run_benchmark(ranks.comm(), options));
  }
  NEVE_TRY(ranks.on_first("report", [&] {
    return deliver(args, result_json(options, ranks.size(), result).dump(2) + "\n",
                   result_text(options, ranks.size(), result));
  }));
  return outcome(result);
}

}  // namespace

Command add_bench_layouts(CLI::App& bench) {
  CLI::App* sub = bench.add_subcommand(
      "layouts", "One plotfile by AMRIC's, AMReX's and Neve's layouts of the file: stages, sizes, calls");
  sub->group(mini_apps);
  auto args = std::make_shared<Args>();
  Case& c = args->options;
  sub->add_option("file", c.file, "a plotfile of any kind that Neve reads")->required()->type_name("FILE");
  sub->option_defaults()->group("Case");
  sub->add_option("--ways", args->ways,
                  "ways of writing, in turn: " + layouts::way_forms() + "; " + layouts::setting_ranges())
      ->delimiter(',')
      ->capture_default_str();
  sub->add_option("--rel", c.rel, "bound, relative to the range of a field on a level")
      ->capture_default_str();
  sub->add_option("--fields", c.fields, "only these fields; else all")->delimiter(',');
  sub->add_option(
         "--copies", args->copies,
         fmt::format(
             "the domain is repeated so often along x, 1 to {}; 'ranks': once for each rank (weak scaling)",
             layouts::max_copies))
      ->capture_default_str();
  sub->add_option("--folder", c.folder, "folder in which the files are written")->capture_default_str();
  sub->add_flag("--keep", c.keep,
                "keep the last file of each way; refused if a file of one of these names exists");
  sub->option_defaults()->group("Measurement");
  sub->add_option(
         "--repeats", c.repeats,
         fmt::format("writes by each way, 1 to {}; they take turns, and the one with the median total counts",
                     layouts::max_repeats))
      ->capture_default_str();
  sub->add_flag("--verify,!--no-verify", c.verify,
                "read the first file of each way back and compare every value that it holds (the default)");
  sub->option_defaults()->group("Report");
  sub->add_option("--json", args->json, "file for the figures as JSON; - prints them instead of the table")
      ->type_name("FILE")
      ->check(CLI::Validator(what_is_wrong, ""));
  sub->footer(
      "Examples:\n"
      "  mpirun -n 4 neve bench layouts plt00088\n"
      "  mpirun -n 4 neve bench layouts plt00088 --ways nocomp,amric-lr,neve --rel 1e-2 --json -\n"
      "  mpirun -n 4 neve bench layouts plt00088 --ways amrex:1024,amrex:4096 --copies ranks");
  Command command{sub, {}, {}};
  command.parallel = [args, sub](const Ranks& ranks) { return run(ranks, *sub, *args); };
  return command;
}

}  // namespace neve::cli
