// SPDX-License-Identifier: BSD-3-Clause
// The `neve` command.
#include <vector>

#include "tools/common/run_commands.hpp"
#include "tools/neve/commands.hpp"

int main(int argc, char** argv) {
  using namespace neve::cli;
  CLI::App app("Neve compresses simulation output within an error bound, into ordinary HDF5 files.", "neve");
  app.set_version_flag("--version", "neve " NEVE_VERSION);
  app.require_subcommand(1);
  app.footer(
      "Examples:\n"
      "  neve convert plt00113 plt00113.h5 --bound rel=1e-3\n"
      "  neve verify plt00113 plt00113.h5\n"
      "  neve COMMAND --help\n"
      "Exit codes: 0 ok, 1 failure, 2 usage, 3 bound violated, 4 corrupt input, 5 plugin missing.");
  const std::vector<Command> commands = {
      add_convert(app), add_verify(app), add_info(app),   add_compress(app), add_decompress(app),
      add_choices(app), add_plot(app),   add_export(app), add_bench(app),    add_study(app),
      add_plan(app),    add_doctor(app), add_trace(app),  add_mpi(app)};
  return run_commands(app, commands, argc, argv);
}
