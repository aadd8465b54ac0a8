// SPDX-License-Identifier: BSD-3-Clause
// `neve codebooks`: offline codebooks of streams, trained on the fields that the benchmarks read.
#include "tools/common/python.hpp"
#include "tools/neve/commands.hpp"

namespace neve::cli {

Command add_codebooks(CLI::App& app) {
  CLI::App* sub = app.add_subcommand("codebooks", "Train the offline codebooks of streams on real fields");
  // Python declares the options, so that they are said in one place; its --help shows them.
  sub->prefix_command()->set_help_flag();
  Command command{sub, {}, {}};
  command.local = [sub] { return exec_module("neve_bench.codebooks", sub->remaining()); };
  return command;
}

}  // namespace neve::cli
