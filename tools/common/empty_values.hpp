// SPDX-License-Identifier: BSD-3-Clause
// Options that were given an empty value, as a shell makes of an unset variable.
#pragma once

#include <CLI/CLI.hpp>

#include "neve/status.hpp"

namespace neve::cli {

// After a parse. Usage error naming the first one of `app` and of the subcommands it came to: no option has a
// meaning for it, and most would be as if they had not been given.
Status check_no_empty_values(const CLI::App& app);

}  // namespace neve::cli
