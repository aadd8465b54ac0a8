// SPDX-License-Identifier: BSD-3-Clause
#include "neve/choice.hpp"

#include <fmt/format.h>

#include "core/catalog/choices.hpp"

namespace neve {
namespace {

struct ReasonTexts {
  std::string_view name, words;
};
constexpr ReasonTexts reason_texts[choice_reasons] = {
    {"kept", "it performs as it did when it was chosen"},
    {"first", "there was nothing to keep, by these weights and candidates"},
    {"drift", "what was chosen before no longer performs as it did then"},
    {"rival", "another method is estimated to perform better"},
    {"due", "it is long since the last choice"},
};

const ReasonTexts& texts_of(ChoiceReason reason) {
  const auto number = static_cast<size_t>(reason);
  return reason_texts[number < choice_reasons ? number : 0];
}

}  // namespace

Result<Speeds> parse_speeds(std::string_view name) {
  if (const auto speeds = value_in(speeds_names, name)) return *speeds;
  return usage_error(fmt::format("speeds \"{}\" unknown; allowed: {}", name, joined(speeds_names)));
}

std::string_view speeds_name(Speeds speeds) { return name_in(speeds_names, speeds, "unknown"); }

Status check_choice_rules(const ChoiceRules& rules) {
  NEVE_TRY(check_delta("delta", rules.delta));
  if (speeds_name(rules.speeds) != "unknown") return {};
  return not_among("speeds", static_cast<int>(rules.speeds), joined(speeds_names));
}

std::string_view choice_reason_name(ChoiceReason reason) { return texts_of(reason).name; }
std::string_view choice_reason_words(ChoiceReason reason) { return texts_of(reason).words; }

}  // namespace neve
