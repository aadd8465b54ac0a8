// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace neve::cli {

// A subcommand of `bench` that is no Python: `bench` leaves its words and its help to Python, and CLI11 hands
// that down to subcommands.
inline CLI::App* add_bench_app(CLI::App& bench, const std::string& name, const std::string& what) {
  CLI::App* const sub = bench.add_subcommand(name, what);
  sub->prefix_command(false);
  sub->set_help_flag("-h,--help", "Print this help message and exit");
  return sub;
}

}  // namespace neve::cli
