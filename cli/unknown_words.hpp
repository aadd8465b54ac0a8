// SPDX-License-Identifier: BSD-3-Clause
// Words of a command line that no option and no argument takes.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace neve::cli {

// After a failed parse: what was given to `app` or the subcommands it came to and is none of theirs, with the
// nearest name that is known. Empty: nothing of that kind, something else is wrong.
std::string unknown_words(const CLI::App& app);

}  // namespace neve::cli
