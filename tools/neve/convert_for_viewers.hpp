// SPDX-License-Identifier: BSD-3-Clause
// What `neve convert` makes for viewers, which Python makes: .vtkhdf of plotfiles, .xdmf of data files.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "neve/status.hpp"
#include "tools/common/ranks.hpp"

namespace neve::cli {

// By --to or the destination's ending.
bool is_for_viewers(const std::string& destination, const std::string& to);

// One rank makes them.
Status check_for_viewers(const Ranks& ranks, const std::string& destination);

// Hands the command's words over; returns the exit code where that fails.
int convert_for_viewers(const CLI::App& convert);

}  // namespace neve::cli
