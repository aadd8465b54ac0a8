// SPDX-License-Identifier: BSD-3-Clause
// `neve bench noise`: how fast the mini-apps' fields are made.
#include "bench/command/noise.hpp"

#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "bench/command/groups.hpp"
#include "bench/command/report.hpp"
#include "bench/harness/noise/noise.hpp"
#include "tools/common/console.hpp"

namespace neve::cli {
namespace {

struct Args {
  double seconds = 0.5;
  ReportArgs report;
};

Status run(const Args& args) {
  if (!(args.seconds > 0 && args.seconds <= 60)) {
    return usage_error(fmt::format("--seconds {} is not in 0..60", args.seconds));
  }
  NEVE_ASSIGN(const std::vector<apps::NoiseSpeed> speeds, apps::measure_noise(args.seconds));
  const double plain = speeds.back().samples_per_second;
  if (args.report.json) {
    auto j = nlohmann::ordered_json::array();
    for (const apps::NoiseSpeed& speed : speeds) {
      j.push_back({{"target", speed.target},
                   {"samples_per_second", speed.samples_per_second},
                   {"times_portable", speed.samples_per_second / plain}});
    }
    return deliver(args.report, j.dump(2) + "\n");
  }
  Table table({"instructions", "M samples/s", "x portable"});
  for (const apps::NoiseSpeed& speed : speeds) {
    table.add({speed.target, fmt::format("{:.1f}", speed.samples_per_second / 1e6),
               fmt::format("{:.2f}", speed.samples_per_second / plain)});
  }
  return deliver(args.report, table.text());
}

}  // namespace

Command add_bench_noise(CLI::App& bench) {
  CLI::App* sub = bench.add_subcommand("noise", "The mini-apps' noise: samples a second, by instruction set");
  sub->group(machine_benches);
  auto args = std::make_shared<Args>();
  sub->add_option("--seconds", args->seconds, "processor time for each instruction set, s")
      ->capture_default_str();
  add_report_options(*sub, args->report);
  sub->footer("Examples:\n  neve bench noise\n  neve bench noise --seconds 2 --json");
  Command command{sub, {}, {}};
  command.local = [args] {
    const Status status = run(*args);
    if (!status.ok()) say("bench noise", status.message());
    return static_cast<int>(status.code());
  };
  return command;
}

}  // namespace neve::cli
