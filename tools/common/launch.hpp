// SPDX-License-Identifier: BSD-3-Clause
// Programs with a library of ours preloaded into their processes.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "neve/status.hpp"

namespace neve::cli {

// What LD_PRELOAD is to be: the library that `variable` names, else the one beside this command, in a build
// folder or an installation; and what was preloaded already.
Result<std::string> find_preload(const std::string& name, const char* variable);

// A limit on the size of files (ulimit -f) is an error of the write that meets it from here on, and no end of
// this process. Programs that run_to_end starts have what this process was started with.
void outlive_file_size_limits();

using Variables = std::vector<std::pair<std::string, std::string>>;

// The words to run. A launcher is told to give the variables to the ranks alone, wherever they run; for
// anything else they go into the environment, which what it starts inherits.
std::vector<std::string> with_variables(const std::vector<std::string>& words, const Variables& variables);

// The exit code as a shell would give it. Interruptions reach the program, and what comes after it is still
// done.
Result<int> run_to_end(const std::vector<std::string>& words);

}  // namespace neve::cli
