// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "neve/status.hpp"

namespace neve::cli {

// Options of a command from a TOML file, a line each, but for those given on the command line.
Status read_deck(CLI::App& command, const std::string& path);

}  // namespace neve::cli
