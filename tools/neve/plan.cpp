// SPDX-License-Identifier: BSD-3-Clause
// `neve plan`: how many writes of which sizes each strategy makes, what they would take on a parallel file
// system, and what to choose. Nothing is written.
#include <iostream>
#include <memory>

#include "core/status/guarded.hpp"
#include "tools/common/console.hpp"
#include "tools/common/json_text.hpp"
#include "tools/neve/commands.hpp"
#include "tools/neve/plan_options.hpp"
#include "tools/neve/plan_report.hpp"
#include "tools/neve/plan_sweep.hpp"

namespace neve::cli {
namespace plan {

Result<Plan> make_plan(const Args& args, const Source& source) {
  Plan plan;
  plan.args = args;
  NEVE_ASSIGN(plan.system, system_of(args));
  NEVE_ASSIGN(plan.subject, subject_of(args, source));
  plan.metadata_writes = metadata_writes(args, plan.subject, io_model::Writer::neve);
  plan.subject.values.metadata_writes = plan.metadata_writes;
  if (plan.subject.frames) plan.subject.frames->metadata_writes = plan.metadata_writes;
  NEVE_ASSIGN(plan.striping, striping_of(args, plan.subject.values, plan.system));
  plan.rows = rows_of(args, plan.subject, plan.striping, plan.system);
  plan.advice = advise(args, plan.rows, plan.subject);
  return plan;
}

namespace {

Result<int> run(const CLI::App& command, Args& args) {
  NEVE_TRY(check(command, args));
  if (!args.sweep.empty()) return run_sweep(command, args);
  NEVE_ASSIGN(const Source source, source_of(args));
  NEVE_ASSIGN(const Plan plan, make_plan(args, source));
  std::cout << (args.json ? json_text(plan_json(plan)) + "\n" : plan_text(plan)) << std::flush;
  return 0;
}

}  // namespace
}  // namespace plan

Command add_plan(CLI::App& app) {
  CLI::App* sub = app.add_subcommand(
      "plan", "Predict how many writes each strategy makes, their sizes and their time, and recommend one");
  auto args = std::make_shared<plan::Args>();
  plan::add_options(*sub, *args);
  sub->footer(
      "Examples:\n"
      "  neve plan --chombo 8x8x8 --ranks 2304 --stripe-count 96 --stripe-size 8MiB --bins\n"
      "  neve plan --bisicles --checkpoint --ranks 576\n"
      "  neve plan plt00113 --ranks 128 --ratio 20 --system cori\n"
      "  neve plan --chombo 1x1x1 --box-cells 8 --ranks 4 --mpi-io ompio\n"
      "  neve plan --chombo 4x4x4 --sweep ranks=288,576,1152 --plot ranks.png\n"
      "  neve plan --boxes 4599936:115200 --ranks 2304 --targets 48 --target-bandwidth 1.5");
  Command command{sub, {}, {}};
  command.local = [args, sub] {
    const Result<int> code = guarded("", [&] { return plan::run(*sub, *args); });
    if (code.ok()) return *code;
    say("plan", code.status().message());
    return static_cast<int>(code.status().code());
  };
  return command;
}

}  // namespace neve::cli
