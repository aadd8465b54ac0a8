// SPDX-License-Identifier: BSD-3-Clause
// Settings as text, "key=value" each, read by the table of options.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "core/options/option.hpp"

namespace neve::options {

// "key=value", a toggle also "key" alone, or a bound alone: "rel=1e-3", "lossless".
struct Setting {
  std::string text;  // as it was written
  std::string key;   // of the table, where it is there
  std::string value;
};
Setting setting_of(std::string_view text);

// Into the slot it belongs to. Usage error where no option of `targets` has the name: "unknown option "x=1";
// allowed are ...". `also`: what else is allowed, for that message.
Status read_setting(const Setting& setting, Targets targets, const Slots& slots, std::string_view also = {});

// What a rule says of its fields or variables. Its tuning, where it says any, replaces all of that of others.
struct RuleSettings {
  std::optional<Bound> bound;
  std::optional<Codec> codec;
  std::optional<CodecTuning> tuning;
  std::optional<double> fill;
  std::optional<Effort> effort;
};
// "rel=1e-4,codec=context,unit=16": options of `target`, joined by commas, each at most once.
Result<RuleSettings> parse_rule(std::string_view text, Target target);

}  // namespace neve::options
