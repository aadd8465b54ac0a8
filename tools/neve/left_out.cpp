// SPDX-License-Identifier: BSD-3-Clause
// The subcommands that a build without MPI leaves out: each is known, and says so.
#include "alone/needs_mpi.hpp"
#include "tools/common/console.hpp"
#include "tools/neve/commands.hpp"

namespace neve::cli {
namespace {

Command add_left_out(CLI::App& app, const std::string& name) {
  CLI::App* sub = app.add_subcommand(name, "Needs a build with MPI");
  sub->prefix_command()->set_help_flag();
  Command command{sub, {}, {}};
  command.local = [name] {
    const Status status = alone::needs_mpi("this");
    say(name, status.message());
    return static_cast<int>(status.code());
  };
  return command;
}

}  // namespace

Command add_bench(CLI::App& app) { return add_left_out(app, "bench"); }
Command add_study(CLI::App& app) { return add_left_out(app, "study"); }
Command add_trace(CLI::App& app) { return add_left_out(app, "trace"); }
Command add_mpi(CLI::App& app) { return add_left_out(app, "mpi"); }

}  // namespace neve::cli
