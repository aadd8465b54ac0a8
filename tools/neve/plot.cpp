// SPDX-License-Identifier: BSD-3-Clause
// `neve plot`: pictures and films of fields, and of what a copy's error is.
#include "tools/common/python.hpp"
#include "tools/neve/commands.hpp"

namespace neve::cli {

Command add_plot(CLI::App& app) {
  CLI::App* sub = app.add_subcommand("plot", "Draw fields, the error of a copy, or a film");
  // Python declares the options, so that they are said in one place; its --help shows them.
  sub->prefix_command()->set_help_flag();
  Command command{sub, {}, {}};
  command.local = [sub] { return exec_module("neve.plot", sub->remaining()); };
  return command;
}

}  // namespace neve::cli
