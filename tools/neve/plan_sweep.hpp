// SPDX-License-Identifier: BSD-3-Clause
// `neve plan --sweep NAME=LIST`: the plans of several values of one option, side by side.
#pragma once

#include <string>
#include <vector>

#include "neve/status.hpp"
#include "tools/neve/plan_options.hpp"
#include "tools/neve/plan_subject.hpp"

namespace neve::cli::plan {

std::string sweep_help();

// Whether "NAME=LIST" is of that name.
bool sweeps(const std::string& sweep, const std::string& name);

// Prints it, and draws it where that is asked for; the exit code.
Result<int> run_sweep(const CLI::App& command, const Args& args);

}  // namespace neve::cli::plan
