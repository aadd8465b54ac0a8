// SPDX-License-Identifier: BSD-3-Clause
// The two commands below `neve trace`.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>

namespace neve::cli {

struct TraceCommand {
  CLI::App* app = nullptr;
  std::function<int()> work;  // returns the exit code
};

TraceCommand add_trace_run(CLI::App& trace);
TraceCommand add_trace_report(CLI::App& trace);

}  // namespace neve::cli
