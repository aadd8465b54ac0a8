// SPDX-License-Identifier: BSD-3-Clause
// What a subcommand is. Each is added by a function of its own file, which declares its options and returns
// what to run once they are parsed.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>
#include <vector>

#include "neve/status.hpp"

namespace neve::cli {

class Ranks;  // tools/common/ranks.hpp

// The error's code is the exit code. A command prints its own results; main prints the error.
using ParallelRun = std::function<Status(const Ranks&)>;
using LocalRun =
    std::function<int()>;  // needs no MPI: runs on the launcher's first rank, returns the exit code

struct Command {
  CLI::App* app = nullptr;
  ParallelRun parallel;  // one of the two is set
  LocalRun local;
  LocalRun after = {};  // of a parallel one: on the first rank, when all went well and MPI is done with
  std::vector<Command> below = {};  // subcommands of it that run instead of it
  bool is_on_all_ranks = false;     // of a local one: it becomes another program, which may be parallel
};

}  // namespace neve::cli
