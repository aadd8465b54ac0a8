// SPDX-License-Identifier: BSD-3-Clause
// `neve choices`: which method a series took at each step, and why.
#include "tools/common/python.hpp"
#include "tools/neve/commands.hpp"

namespace neve::cli {

Command add_choices(CLI::App& app) {
  CLI::App* sub = app.add_subcommand("choices", "Show which method a series took at each step, and why");
  // Python declares the options, so that they are said in one place; its --help shows them.
  sub->prefix_command()->set_help_flag();
  Command command{sub, {}, {}};
  command.local = [sub] { return exec_module("neve.choices", sub->remaining()); };
  return command;
}

}  // namespace neve::cli
