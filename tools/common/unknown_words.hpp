// SPDX-License-Identifier: BSD-3-Clause
// Words of a command line that no option and no argument takes.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace neve::cli {

// After a failed parse: what was given to `app` or the subcommands it came to and is none of theirs, with the
// nearest name that is known. Empty: nothing of that kind, something else is wrong.
std::string unknown_words(const CLI::App& app);

// Likewise, of a word that stands where one of the commands below is wanted. Those who ask for its help mean
// that command, and not the one above.
std::string unknown_subcommand(const CLI::App& app);

// What the parser itself says (an argument that is required, a number that is none), with the command it came
// to.
std::string parse_error_text(const CLI::App& app, const CLI::Error& error);

// Of `app`, a command or below one, behind "neve": "convert", "mpi run", "bench struct".
std::string full_name(const CLI::App& app);

// The command that the words came to: `app` or what is below.
const CLI::App& parsed_command(const CLI::App& app);

}  // namespace neve::cli
