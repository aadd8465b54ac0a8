// SPDX-License-Identifier: BSD-3-Clause
// `neve export`: fields of a plotfile on a grid of one resolution, as .npy, HDF5 or netCDF-4.
#include "tools/common/python.hpp"
#include "tools/neve/commands.hpp"

namespace neve::cli {

Command add_export(CLI::App& app) {
  CLI::App* sub = app.add_subcommand("export", "Write fields of a plotfile on a grid of one resolution");
  // Python declares the options, so that they are said in one place; its --help shows them.
  sub->prefix_command()->set_help_flag();
  Command command{sub, {}, {}};
  command.local = [sub] { return exec_module("neve.export", sub->remaining()); };
  return command;
}

}  // namespace neve::cli
