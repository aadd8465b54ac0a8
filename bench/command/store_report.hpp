// SPDX-License-Identifier: BSD-3-Clause
// What the mini-apps' outputs took and brought back, and the options they share.
#pragma once

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <memory>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "bench/command/report.hpp"
#include "bench/harness/output/output.hpp"
#include "tools/common/deck.hpp"

namespace neve::cli {

// --outputs, --bound, --folder, --no-verify, --no-counts, --keep, --repeats, --phases, --deck and those of
// the report as they were typed.
struct StoreArgs {
  std::vector<std::string> outputs;
  std::string bound = "abs=1e-4", folder = ".", deck;
  int repeats = 1;
  bool no_verify = false, keep = false, phases = false, no_counts = false;
  ReportArgs report;
};
// Without --outputs for an app that has methods of its own.
void add_store_options(CLI::App& command, StoreArgs& args, bool has_outputs = true);
Result<std::vector<apps::Output>> parse_outputs(const StoreArgs& args);
apps::StoreOptions store_options(const StoreArgs& args);
// The members `bound`, `outputs` and `store` of a mini-app's case.
template <class Case>
Status fill_store(const StoreArgs& args, Case& into) {
  NEVE_ASSIGN(into.bound, parse_bound(args.bound));
  NEVE_ASSIGN(into.outputs, parse_outputs(args));
  into.store = store_options(args);
  return {};
}

// The command of a mini-app whose `Args` have a member `store`, as `run(ranks, command, args)` does it.
template <class Args>
Command store_command(CLI::App& command, std::shared_ptr<Args> args,
                      Status (*run)(const Ranks&, const CLI::App&, const Args&)) {
  return deck_command(command, {args, &args->store.deck},
                      [&command, args, run](const Ranks& ranks) { return run(ranks, command, *args); });
}

// "--grid has 2 numbers; 3 are wanted".
template <size_t n, class T>
Result<std::array<T, n>> numbers(const char* option, const std::vector<T>& given) {
  std::array<T, n> values{};
  if (given.size() != n) {
    return usage_error(fmt::format("{} has {} numbers; {} are wanted", option, given.size(), n));
  }
  std::copy(given.begin(), given.end(), values.begin());
  return values;
}

// An option of as many numbers, behind commas.
template <class T>
CLI::Option* add_numbers(CLI::App& command, const char* name, std::vector<T>& values, int wanted,
                         const char* what) {
  return command.add_option(name, values, what)->delimiter(',')->expected(1, wanted);
}

nlohmann::ordered_json stores_json(std::span<const apps::StoreResult> results);
// A table. Throughput is of raw bytes, as in the MiniIO paper.
std::string stores_text(std::span<const apps::StoreResult> results);

}  // namespace neve::cli
