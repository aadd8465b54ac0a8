// SPDX-License-Identifier: BSD-3-Clause
// `neve plot`: a picture of a field with the box outlines, beside it the error against an original.
#include "tools/common/python.hpp"
#include "tools/neve/commands.hpp"

namespace neve::cli {

Command add_plot(CLI::App& app) {
  CLI::App* sub = app.add_subcommand("plot", "Draw a field with its boxes, and its error beside it");
  // Python declares the options, so that they are said in one place; its --help shows them.
  sub->prefix_command()->set_help_flag();
  Command command{sub, {}, {}};
  command.local = [sub] { return exec_module("neve.plot", sub->remaining()); };
  return command;
}

}  // namespace neve::cli
