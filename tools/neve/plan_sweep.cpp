// SPDX-License-Identifier: BSD-3-Clause
#include "tools/neve/plan_sweep.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <functional>
#include <iostream>

#include "core/catalog/file_layout.hpp"
#include "tools/common/console.hpp"
#include "tools/common/json_text.hpp"
#include "tools/common/python.hpp"
#include "tools/neve/plan_report.hpp"

namespace neve::cli::plan {
namespace {

constexpr size_t most_values = 64;

struct Swept {
  const char* name;  // of the option, without its dashes
  bool is_size;
  uint64_t most;
  void (*set)(Args&, uint64_t);
};

constexpr std::array swept_options = {
    Swept{"ranks", false, 1'000'000,
          [](Args& args, uint64_t value) { args.ranks = static_cast<int>(value); }},
    Swept{"stripe-count", false, 100'000'000,
          [](Args& args, uint64_t value) { args.layout.stripe_count = static_cast<int>(value); }},
    Swept{"stripe-size", true, uint64_t{1} << 40,
          [](Args& args, uint64_t value) { args.layout.stripe_bytes = value; }},
    Swept{"aggregators", false, 100'000'000,
          [](Args& args, uint64_t value) { args.layout.aggregators = static_cast<int>(value); }},
    Swept{"aggregate-boxes", false, 100'000'000,
          [](Args& args, uint64_t value) { args.aggregate_boxes = static_cast<int>(value); }},
};

std::string names() {
  std::string text;
  for (const Swept& option : swept_options) text += (text.empty() ? "" : ", ") + std::string(option.name);
  return text;
}

struct Sweep {
  const Swept* option = nullptr;
  std::vector<std::string> texts;
  std::vector<uint64_t> values;
};

Result<uint64_t> parse_value(const Swept& option, const std::string& text) {
  if (option.is_size) return parse_bytes(fmt::format("--sweep {}", option.name), text);
  uint64_t value = 0;
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, value);
  if (error == std::errc() && rest == end && value >= 1 && value <= option.most) return value;
  return usage_error(
      fmt::format("--sweep {}: '{}' is not a number from 1 to {}", option.name, text, option.most));
}

Result<Sweep> parse_sweep(const std::string& text) {
  const size_t equals = text.find('=');
  Sweep sweep;
  for (const Swept& option : swept_options) {
    if (text.substr(0, equals) == option.name) sweep.option = &option;
  }
  if (sweep.option == nullptr || equals == std::string::npos || equals + 1 == text.size()) {
    return usage_error(
        fmt::format("--sweep '{}' is not NAME=LIST, as in ranks=576,1152; NAME is one of {}", text, names()));
  }
  for (size_t at = equals + 1; at <= text.size();) {
    const size_t comma = std::min(text.find(',', at), text.size());
    sweep.texts.push_back(text.substr(at, comma - at));
    NEVE_ASSIGN(const uint64_t value, parse_value(*sweep.option, sweep.texts.back()));
    sweep.values.push_back(value);
    at = comma + 1;
  }
  if (sweep.values.size() <= most_values) return sweep;
  return usage_error(
      fmt::format("--sweep has {} values; at most {} are allowed", sweep.values.size(), most_values));
}

// One value is given twice: by the option and by the sweep.
Status check_sweep(const CLI::App& command, const Args& args, const Sweep& sweep) {
  const std::string option = std::string("--") + sweep.option->name;
  if (command.count(option) > 0) {
    return usage_error(
        fmt::format("{} has no meaning with --sweep {}=..., which gives it", option, sweep.option->name));
  }
  const bool is_of_stripes = std::string_view(sweep.option->name).starts_with("stripe-");
  if (is_of_stripes && !args.is_striped()) {
    return usage_error(fmt::format("--sweep {} has no meaning with --mpi-io {}, whose files have no stripes",
                                   sweep.option->name, args.mpi_io_name));
  }
  return {};
}

Result<std::vector<Plan>> plans_of(const Args& args, const Sweep& sweep) {
  NEVE_ASSIGN(const Source source, source_of(args));
  std::vector<Plan> plans;
  for (size_t i = 0; i < sweep.values.size(); ++i) {
    Args one = args;
    sweep.option->set(one, sweep.values[i]);
    NEVE_TRY(check_layout(one.layout).in(fmt::format("--sweep {}={}", sweep.option->name, sweep.texts[i])));
    if (one.layout.aggregators > one.ranks) {
      return usage_error(fmt::format("--sweep {}={}: {} aggregators on {} ranks; they are some of the ranks",
                                     sweep.option->name, sweep.texts[i], one.layout.aggregators, one.ranks));
    }
    NEVE_ASSIGN(Plan plan, make_plan(one, source));
    plans.push_back(std::move(plan));
  }
  return plans;
}

// The name of a row without what the sweep varies: "aggregated, K boxes".
std::string row_name(const Row& row) {
  if (!row.name.ends_with(" boxes")) return row.name;
  return row.name.substr(0, row.name.find(", ")) + ", K boxes";
}

std::string table_text(const Sweep& sweep, const std::vector<Plan>& plans, const std::string& title,
                       const std::function<std::string(const Row&)>& cell) {
  std::vector<std::string> heads = {sweep.option->name};
  for (const Row& row : plans.front().rows) heads.push_back(row_name(row));
  Table table(heads);
  for (size_t i = 0; i < plans.size(); ++i) {
    std::vector<std::string> cells = {sweep.texts[i]};
    for (const Row& row : plans[i].rows) cells.push_back(cell(row));
    table.add(cells);
  }
  return title + "\n" + table.text();
}

std::string sweep_text(const Sweep& sweep, const std::vector<Plan>& plans) {
  std::string text = fmt::format("{}\n{}, {}\n\n", plans.front().subject.what,
                                 counted(plans.front().subject.values.pieces(), "box", "boxes"),
                                 human_bytes(plans.front().subject.values.bytes()));
  text += table_text(sweep, plans, "Seconds", [](const Row& row) { return seconds_text(row.total()); });
  text += "\n" + table_text(sweep, plans, "POSIX writes, with metadata",
                            [](const Row& row) { return std::to_string(row.posix_writes()); });
  text += "\n" + table_text(sweep, plans,
                            "Bytes of the busiest rank's largest call: its buffer, where boxes are packed",
                            [](const Row& row) {
                              return row.compresses ? std::string("-") : human_bytes(row.buffer_bytes);
                            });
  text += "Where this may be wrong:\n";
  for (const std::string& line : plans.back().advice.caveats) text += "  " + line + "\n";
  return text;
}

Json sweep_json(const Sweep& sweep, const std::vector<Plan>& plans) {
  Json j = {{"sweep", sweep.option->name}, {"points", Json::array()}};
  for (size_t i = 0; i < plans.size(); ++i) {
    Json point = {{"value", sweep.values[i]}, {"text", sweep.texts[i]}};
    point["plan"] = plan_json(plans[i]);
    j["points"].push_back(std::move(point));
  }
  return j;
}

}  // namespace

std::string sweep_help() {
  return "NAME=LIST: plans of several values of one option, as in ranks=576,1152; NAME: " + names();
}

bool sweeps(const std::string& sweep, const std::string& name) { return sweep.starts_with(name + "="); }

Result<int> run_sweep(const CLI::App& command, const Args& args) {
  NEVE_ASSIGN(const Sweep sweep, parse_sweep(args.sweep));
  NEVE_TRY(check_sweep(command, args, sweep));
  NEVE_ASSIGN(const std::vector<Plan> plans, plans_of(args, sweep));
  const Json json = sweep_json(sweep, plans);
  std::cout << (args.json ? json_text(json) + "\n" : sweep_text(sweep, plans)) << std::flush;
  if (args.plot.empty()) return 0;
  return exec_module("neve.plan", {"-", "-o", args.plot}, json_text(json, -1));
}

}  // namespace neve::cli::plan
