// SPDX-License-Identifier: BSD-3-Clause
// What the parser of command lines says, in the words of the other messages.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace neve::cli {

// `error` of a command line of `command`, or of its deck: "--ranks: \"x\" is not a whole number".
std::string plain_words(const CLI::App& command, const CLI::Error& error);

// Behind the name of its type: "1 to 2048", "at least 0", "above 0"; empty where every value is allowed.
std::string allowed_range(const CLI::Option& option);

// Whether the option's values are numbers, and what is wrong with one of them; empty where nothing is.
bool holds_numbers(const CLI::Option& option);
std::string number_fault(const CLI::Option& option, const std::string& value);

}  // namespace neve::cli
