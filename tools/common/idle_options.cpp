// SPDX-License-Identifier: BSD-3-Clause
#include "tools/common/idle_options.hpp"

#include <fmt/format.h>

#include "tools/common/deck.hpp"

namespace neve::cli {
Status refuse_idle(const CLI::App& command, const std::vector<OptionUse>& uses) {
  for (const OptionUse& use : uses) {
    if (use.has_effect || command.count(use.option) == 0 || is_from_deck(*command.get_option(use.option))) {
      continue;
    }
    return usage_error(fmt::format("{} has no meaning {}", use.option, use.why_not));
  }
  return {};
}

Status refuse_idle(const CLI::App& command, std::initializer_list<OptionUse> uses) {
  return refuse_idle(command, std::vector<OptionUse>(uses));
}

}  // namespace neve::cli
