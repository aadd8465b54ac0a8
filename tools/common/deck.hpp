// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <CLI/CLI.hpp>
#include <memory>
#include <string>

#include "neve/status.hpp"
#include "tools/common/command.hpp"

namespace neve::cli {

// Collective. Options of a command from a TOML file, a line each, but for those given on the command line. An
// empty path: no file.
Status read_deck(const Ranks& ranks, CLI::App& command, const std::string& path);

// --deck; `example` is a line of such a file.
void add_deck_option(CLI::App& command, std::string& path, const std::string& example);

// Whether the option's value is a deck's. A deck describes a case as a whole and goes with many command
// lines.
bool is_from_deck(const CLI::Option& option);

// A parallel command that reads the deck at `path`, as typed, before it runs.
Command deck_command(CLI::App& command, std::shared_ptr<const std::string> path, ParallelRun run);

}  // namespace neve::cli
