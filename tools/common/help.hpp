// SPDX-License-Identifier: BSD-3-Clause
// What --help says: lines of at most 100 columns, groups of options apart from each other.
#pragma once

#include <CLI/CLI.hpp>
#include <memory>

namespace neve::cli {

// run_commands gives it to an app and all of its subcommands.
std::shared_ptr<CLI::FormatterBase> wrapped_help();

}  // namespace neve::cli
