// SPDX-License-Identifier: BSD-3-Clause
// `neve bench noise`: how fast the mini-apps' fields are made.
#include "bench/command/noise.hpp"

#include <fmt/format.h>

#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "bench/harness/noise/noise.hpp"
#include "tools/common/console.hpp"

namespace neve::cli {
namespace {

struct Args {
  double seconds = 0.5;
  bool json = false;
};

Status run(const Args& args) {
  if (!(args.seconds > 0 && args.seconds <= 60)) {
    return usage_error(fmt::format("--seconds {} is not in 0..60", args.seconds));
  }
  NEVE_ASSIGN(const std::vector<apps::NoiseSpeed> speeds, apps::measure_noise(args.seconds));
  const double plain = speeds.back().samples_per_second;
  if (args.json) {
    auto j = nlohmann::ordered_json::array();
    for (const apps::NoiseSpeed& speed : speeds) {
      j.push_back({{"target", speed.target},
                   {"samples_per_second", speed.samples_per_second},
                   {"times_portable", speed.samples_per_second / plain}});
    }
    std::cout << j.dump(2) << std::endl;
    return {};
  }
  Table table({"instructions", "M samples/s", "x portable"});
  for (const apps::NoiseSpeed& speed : speeds) {
    table.add({speed.target, fmt::format("{:.1f}", speed.samples_per_second / 1e6),
               fmt::format("{:.2f}", speed.samples_per_second / plain)});
  }
  std::cout << table.text() << std::flush;
  return {};
}

}  // namespace

Command add_bench_noise(CLI::App& bench) {
  CLI::App* sub = bench.add_subcommand(
      "noise", "The mini-apps' 4D noise: samples a second of one core, by instruction set");
  auto args = std::make_shared<Args>();
  sub->add_option("--seconds", args->seconds, "processor time spent on each")->capture_default_str();
  sub->add_flag("--json", args->json, "the result as JSON on stdout");
  sub->footer("Examples:\n  neve bench noise\n  neve bench noise --seconds 2 --json");
  Command command{sub, {}, {}};
  command.local = [args] {
    const Status status = run(*args);
    if (!status.ok()) say(status.message());
    return static_cast<int>(status.code());
  };
  return command;
}

}  // namespace neve::cli
