// SPDX-License-Identifier: BSD-3-Clause
// `neve trace`: which reads and writes a program makes, at the MPI-IO level and at the POSIX level below it.
#include "tools/neve/trace.hpp"
#include "tools/neve/commands.hpp"

namespace neve::cli {

Command add_trace(CLI::App& app) {
  CLI::App* sub =
      app.add_subcommand("trace", "Count the reads and writes of any program, and report on them");
  sub->require_subcommand(1);
  sub->footer(
      "Examples:\n"
      "  neve trace run -o trace.json -- mpirun -n 4 ./simulation input\n"
      "  neve trace report trace.json --plot sizes.png\n"
      "  neve trace run --help");
  Command command{sub, {}, {}};
  const TraceCommand run = add_trace_run(*sub), report = add_trace_report(*sub);
  command.local = [run, report] { return run.app->parsed() ? run.work() : report.work(); };
  return command;
}

}  // namespace neve::cli
