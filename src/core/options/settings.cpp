// SPDX-License-Identifier: BSD-3-Clause
#include "core/options/settings.hpp"

#include <fmt/format.h>

namespace neve::options {
namespace {

bool is_bound_mode(std::string_view word) {
  return word == "abs" || word == "rel" || word == "lossless" || word == "ratio" || word == "psnr";
}

}  // namespace

Setting setting_of(std::string_view text) {
  const size_t equals = text.find('=');
  const std::string_view key = text.substr(0, equals);
  Setting setting{std::string(text), std::string(key), {}};
  if (is_bound_mode(key)) {
    setting.key = "bound";
    setting.value = text;
    return setting;
  }
  const Option* const option = find(key);
  if (option != nullptr) setting.key = option->key;
  if (equals != std::string_view::npos) {
    setting.value = text.substr(equals + 1);
  } else if (option != nullptr && option->kind == Kind::toggle) {
    setting.value = value_text(true);
  }
  return setting;
}

Status read_setting(const Setting& setting, Targets targets, const Slots& slots, std::string_view also) {
  const Option* const option = find(setting.key);
  if (option == nullptr || (option->targets & targets) == 0 || !option->is_in_text) {
    const std::string fault = option == nullptr
                                  ? fmt::format("unknown option \"{}\"", setting.text)
                                  : fmt::format("option \"{}\" has no meaning here", setting.text);
    return usage_error(
        fmt::format("{}; allowed are {}{}{}", fault, keys_of(targets), also.empty() ? "" : ", ", also));
  }
  return naming(option->read(setting.value, slots), *option, std::string(option->key));
}

Result<RuleSettings> parse_rule(std::string_view text, Target target) {
  Bound bound;
  Codec codec = Codec::automatic;
  CodecTuning tuning;
  Effort effort = Effort::fast;
  FillChoice fill;
  Slots slots;
  slots.bound = &bound;
  slots.codec = &codec;
  slots.tuning = &tuning;
  slots.effort = &effort;
  slots.fill = &fill;
  std::set<std::string> given;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(',', begin), text.size());
    const Setting setting = setting_of(text.substr(begin, end - begin));
    begin = end + 1;
    NEVE_TRY(read_setting(setting, target, slots));
    if (!given.insert(setting.key).second) return usage_error(setting.key + " is given twice");
  }
  if (given.count("fill") > 0 && !fill.value) return usage_error("fill: in a rule it is a number");
  RuleSettings rule;
  if (given.erase("bound") > 0) rule.bound = bound;
  if (given.erase("codec") > 0) rule.codec = codec;
  if (given.erase("effort") > 0) rule.effort = effort;
  if (given.erase("fill") > 0) rule.fill = fill.value;
  if (!given.empty()) {
    NEVE_TRY(check_tuning(tuning));
    rule.tuning = tuning;
  }
  return rule;
}

}  // namespace neve::options
