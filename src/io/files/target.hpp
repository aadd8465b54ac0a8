// SPDX-License-Identifier: BSD-3-Clause
// What a path to write means, before anything is written.
#pragma once

#include <string>

#include "neve/status.hpp"

namespace neve::files {

struct Target {
  std::string given;   // as the caller says it, for messages
  std::string path;    // behind a symbolic link; no '/' at its end
  std::string folder;  // where it lies
  std::string name;    // in that folder
};

// Fails where the folder is missing or cannot be written, where a symbolic link leads nowhere, and where the
// path names nothing.
Result<Target> find_target(const std::string& path);

// A usage error where something is there that is no regular file.
Status check_is_file_or_nothing(const Target& target);

// Do both lead to one thing that exists, through whatever links and spellings?
bool is_same_place(const std::string& a, const std::string& b);

// A usage error where what is made of `source` would take its place.
Status check_is_another(const std::string& source, const std::string& copy);

// A hidden name beside a target: `.NAME` + mark, made shorter (and told apart by a number) where a file
// system could not take it.
std::string hidden_name(const std::string& name, const std::string& mark);

}  // namespace neve::files
