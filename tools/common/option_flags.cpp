// SPDX-License-Identifier: BSD-3-Clause
#include "tools/common/option_flags.hpp"

namespace neve::cli {

void OptionFlags::add(CLI::App& command, const Wanted& wanted, const options::Slots& defaults) {
  for (const options::Option& option : options::table()) {
    if (!option.is_in_command || !wanted(option)) continue;
    const std::string key(option.key);
    const std::string name = "--" + options::dashed(key);
    Flag& flag = flags_[key];
    flag.option = &option;
    if (option.kind == options::Kind::toggle) {
      flag.flag = command.add_flag(name, flag.is_on, option.help);
    } else {
      flag.flag = command.add_option(name, flag.text, option.help)
                      ->type_name(std::string(option.placeholder))
                      ->default_str(option.print(defaults));
    }
    flag.flag->group(options::heading(option.group));
  }
}

void OptionFlags::describe(std::string_view key, const std::string& help) {
  flags_.find(key)->second.flag->description(help);
}

Status OptionFlags::read(const options::Slots& slots) const {
  for (const options::Option& option : options::table()) {
    if (!is_given(option.key)) continue;
    NEVE_TRY(
        options::naming(option.read(text(option.key), slots), option, "--" + options::dashed(option.key)));
  }
  return {};
}

bool OptionFlags::is_given(std::string_view key) const {
  const Flag* const flag = find(key);
  return flag != nullptr && flag->flag->count() > 0;
}

bool OptionFlags::is_on(std::string_view key) const {
  const Flag* const flag = find(key);
  return flag != nullptr && flag->is_on;
}

std::string OptionFlags::text(std::string_view key) const {
  if (!is_given(key)) return {};
  const Flag& flag = *find(key);
  return flag.option->kind == options::Kind::toggle ? options::value_text(flag.is_on) : flag.text;
}

options::Asked OptionFlags::asked() const {
  const auto is_asked = [this](std::string_view key) {
    return is_given(key) && !is_switched_off(*find(key)->flag);
  };
  return {is_asked, [](std::string_view key) { return "--" + options::dashed(key); }};
}

const OptionFlags::Flag* OptionFlags::find(std::string_view key) const {
  const auto found = flags_.find(key);
  return found == flags_.end() ? nullptr : &found->second;
}

bool is_switched_off(const CLI::Option& option) {
  return option.get_items_expected_max() == 0 && !option.results().empty() &&
         option.results().back() == "false";
}

OptionFlags::Wanted for_targets(options::Targets targets) {
  return [targets](const options::Option& option) { return (option.targets & targets) != 0; };
}

}  // namespace neve::cli
