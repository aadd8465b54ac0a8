// SPDX-License-Identifier: BSD-3-Clause
// Handing over to neve-bench, the program beside this one.
#pragma once

#include <string>
#include <vector>

namespace neve::cli {

// Returns, with an exit code, only where neve-bench cannot be run: it says so in the name of `command`.
int exec_bench(const std::string& command, const std::vector<std::string>& arguments);

}  // namespace neve::cli
