// SPDX-License-Identifier: BSD-3-Clause
// The benchmarks that are written in Python: the package neve_bench, which no Python needs to have installed.
#pragma once

#include <string>
#include <vector>

#include "tools/common/command.hpp"

namespace neve::cli {

// A subcommand for each.
std::vector<Command> add_python_benches(CLI::App& app);

// Replaces this process by `python -m neve_bench[.module] arguments...`, with a text as its standard input
// where `input` is not null; returns only on an error, with the exit code. An empty module is the package
// itself.
int exec_bench_module(const std::string& module, const std::vector<std::string>& arguments,
                      const std::string* input = nullptr);

}  // namespace neve::cli
