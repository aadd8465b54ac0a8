// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "cli/ranks.hpp"
#include "neve/status.hpp"

namespace neve::cli {

// Collective. Options of a command from a TOML file, a line each, but for those given on the command line. An
// empty path: no file.
Status read_deck(const Ranks& ranks, CLI::App& command, const std::string& path);

}  // namespace neve::cli
