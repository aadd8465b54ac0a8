// SPDX-License-Identifier: BSD-3-Clause
// Rows of the table of options as flags of a command.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "core/options/idle.hpp"
#include "core/options/option.hpp"
#include "neve/status.hpp"

namespace neve::cli {

class OptionFlags {
 public:
  using Wanted = std::function<bool(const options::Option&)>;

  // A flag for each row that is `wanted`; `defaults` are shown in the help. The object must outlive
  // `command`'s parsing.
  void add(CLI::App& command, const Wanted& wanted, const options::Slots& defaults);
  // Instead of what the row says.
  void describe(std::string_view key, const std::string& help);

  // What was given, into the slots. Usage errors begin with the flag: "--unit: 'x' is not a whole number".
  Status read(const options::Slots& slots) const;
  bool is_given(std::string_view key) const;
  bool is_on(std::string_view key) const;  // of a toggle
  // As it was typed, "true" or "false" of a toggle; nothing where it was not.
  std::string text(std::string_view key) const;
  // How refusals name what was typed.
  options::Asked asked() const;

 private:
  struct Flag {
    const options::Option* option;
    CLI::Option* flag;
    std::string text;
    bool is_on = false;
  };
  const Flag* find(std::string_view key) const;

  std::map<std::string, Flag, std::less<>> flags_;  // by key
};

// Whether a flag was given as `--flag=false`, which asks for nothing, wherever it is.
bool is_switched_off(const CLI::Option& option);

// Rows for `targets`.
OptionFlags::Wanted for_targets(options::Targets targets);

}  // namespace neve::cli
