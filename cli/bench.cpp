// SPDX-License-Identifier: BSD-3-Clause
// `neve bench`: the codec table and the write table.
#include "cli/command.hpp"
#include "cli/python.hpp"

namespace neve::cli {

Command add_bench(CLI::App& app) {
  CLI::App* sub = app.add_subcommand(
      "bench", "Measure codecs against SZ3, ZFP and fpzip, and writing against raw MPI-IO");
  // Python declares the options, so that they are said in one place; its --help shows them.
  sub->prefix_command()->set_help_flag();
  Command command{sub, {}, {}};
  command.local = [sub] { return exec_module("neve.bench", sub->remaining()); };
  return command;
}

}  // namespace neve::cli
