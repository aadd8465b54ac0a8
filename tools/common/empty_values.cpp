// SPDX-License-Identifier: BSD-3-Clause
#include "tools/common/empty_values.hpp"

#include <algorithm>
#include <string>
#include <vector>

namespace neve::cli {
namespace {

// The words of a program to be run, which may take empty ones.
bool is_of_program(const CLI::Option& option) { return option.get_name(true) == "command"; }

}  // namespace

Status check_no_empty_values(const CLI::App& app) {
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_items_expected_max() == 0 || is_of_program(*option)) continue;
    const std::vector<std::string>& values = option->results();
    if (std::find(values.begin(), values.end(), std::string()) == values.end()) continue;
    if (option->nonpositional()) {
      return usage_error(option->get_name() + " has an empty value; leave it out, or give it one");
    }
    return usage_error(option->get_name() + " is empty; a name is needed");
  }
  for (const CLI::App* below : app.get_subcommands()) NEVE_TRY(check_no_empty_values(*below));
  return {};
}

}  // namespace neve::cli
