// SPDX-License-Identifier: BSD-3-Clause
// Commands that are written in Python run in a Python that has the package neve.
#pragma once

#include <string>
#include <vector>

#include "neve/status.hpp"

namespace neve::cli {

// NEVE_PYTHON; else .venv beside the build folder this command lies in; else python3 of the PATH: the
// first that can import neve. A NEVE_PYTHON that cannot is an error, never passed over.
Result<std::string> find_python();

std::string own_path();  // of this executable

// Replaces this process by `python -m module arguments...`; returns only on an error, with the exit code.
// NEVE_COMMAND tells Python the neve command beside this one.
int exec_module(const std::string& module, const std::vector<std::string>& arguments);
// The same with a text as its standard input.
int exec_module(const std::string& module, const std::vector<std::string>& arguments,
                const std::string& input);

struct ModuleOutcome {
  int wait_status = 0;  // as waitpid gives it
  std::string out, err;
};

// Runs `python -m module arguments...` to its end; an error where it cannot be started.
Result<ModuleOutcome> run_module(const std::string& module, const std::vector<std::string>& arguments);

}  // namespace neve::cli
