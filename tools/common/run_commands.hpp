// SPDX-License-Identifier: BSD-3-Clause
// What the main functions of our commands have in common.
#pragma once

#include <vector>

#include "tools/common/command.hpp"

namespace neve::cli {

// Parses the command line and runs the one of `commands`, subcommands of `app`, that it names. Returns the
// exit code: 0 ok, 1 failure, 2 usage, 3 bound violated, 4 corrupt input, 5 plugin missing.
int run_commands(CLI::App& app, const std::vector<Command>& commands, int argc, char** argv);

}  // namespace neve::cli
