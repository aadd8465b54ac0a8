// SPDX-License-Identifier: BSD-3-Clause
// `neve study`: the mini-apps by outputs, layouts and ranks, from one deck to a report.
#include "tools/neve/command.hpp"
#include "tools/neve/python.hpp"

namespace neve::cli {

Command add_study(CLI::App& app) {
  CLI::App* sub =
      app.add_subcommand("study", "Run the mini-apps by outputs and ranks from a deck, and write a report");
  // Python declares the options, so that they are said in one place; its --help shows them.
  sub->prefix_command()->set_help_flag();
  Command command{sub, {}, {}};
  command.local = [sub] { return exec_module("neve.study", sub->remaining()); };
  return command;
}

}  // namespace neve::cli
