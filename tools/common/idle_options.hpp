// SPDX-License-Identifier: BSD-3-Clause
// Options that would do nothing are refused by name. Each command says in one list what has an effect where.
#pragma once

#include <CLI/CLI.hpp>
#include <initializer_list>
#include <string>
#include <vector>

#include "neve/status.hpp"

namespace neve::cli {

struct OptionUse {
  const char* option;
  bool has_effect;
  std::string why_not;  // "without --bound", "for a checkpoint; it is allowed for ..."
};
// The first option that was given on the command line and has no effect is a usage error:
// "--effort has no meaning without --bound".
Status refuse_idle(const CLI::App& command, std::initializer_list<OptionUse> uses);
Status refuse_idle(const CLI::App& command, const std::vector<OptionUse>& uses);

}  // namespace neve::cli
