// SPDX-License-Identifier: BSD-3-Clause
#include "tools/neve/variable_rules.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <optional>
#include <sstream>
#include <string_view>
#include <utility>

#include "core/format/codec_choices.hpp"
#include "core/options/idle.hpp"
#include "core/options/settings.hpp"
#include "io/plotfile/file.hpp"
#include "tools/neve/toml.hpp"

namespace neve::cli {
namespace {

using datafile::VariableRule;

constexpr const char* unchanged_key = "unchanged";

std::string allowed_settings() {
  return fmt::format("{}, {}", options::keys_of(options::variable_rule), unchanged_key);
}

std::string allowed_keys() { return "match, " + allowed_settings(); }

std::string keys_of_kinds(std::initializer_list<options::Kind> kinds) {
  std::string keys;
  for (const options::Option& option : options::table()) {
    if ((option.targets & options::variable_rule) == 0) continue;
    if (std::find(kinds.begin(), kinds.end(), option.kind) == kinds.end()) continue;
    keys += (keys.empty() ? "" : ", ") + std::string(option.key);
  }
  return keys;
}

// A value as --field would have it; nothing of a toggle, and where its type is not the option's.
std::optional<std::string> value_text(options::Kind kind, const toml::node& value) {
  switch (kind) {
    case options::Kind::text:
    case options::Kind::size:
      return value.is_string() ? std::optional(**value.as_string()) : std::nullopt;
    case options::Kind::whole:
      return value.is_integer() ? std::optional(std::to_string(**value.as_integer())) : std::nullopt;
    case options::Kind::number:
      return value.is_number() ? std::optional(fmt::format("{}", *value.value<double>())) : std::nullopt;
    case options::Kind::toggle:
      break;
  }
  return std::nullopt;
}

// What a rule's table says, as --field would say it; nothing of a toggle that is false.
Result<std::optional<std::string>> setting_text(const std::string& key, const toml::node& value) {
  const options::Option* const option = options::find(key);
  const bool is_known = option != nullptr && (option->targets & options::variable_rule) != 0;
  if (value.is_boolean() && (key == unchanged_key || (is_known && option->kind == options::Kind::toggle))) {
    return **value.as_boolean() ? std::optional(key) : std::nullopt;
  }
  if (is_known) {
    if (const auto text = value_text(option->kind, value)) return std::optional(key + "=" + *text);
  }
  return usage_error(
      fmt::format("'{}' is not a key of a rule, or has a value of the wrong type; allowed keys: {} (numbers "
                  "for {}; true or false for {} and {}; text for the others)",
                  key, allowed_keys(), keys_of_kinds({options::Kind::whole, options::Kind::number}),
                  keys_of_kinds({options::Kind::toggle}), unchanged_key));
}

Result<std::vector<std::string>> patterns_of(const toml::table& rule) {
  std::vector<std::string> patterns;
  const toml::node* const match = rule.get("match");
  if (match != nullptr && match->is_string()) patterns.push_back(**match->as_string());
  if (match != nullptr && match->is_array()) {
    for (const toml::node& pattern : *match->as_array()) {
      if (!pattern.is_string()) return usage_error("its key match has a value that is not text");
      patterns.push_back(**pattern.as_string());
    }
  }
  if (patterns.empty()) return usage_error("its key match is missing: a pattern of names, or a list of them");
  return patterns;
}

Result<toml::table> parse_toml(const std::string& text, const std::string& path) {
  try {
    return toml::table(toml::parse(text));
  } catch (const toml::parse_error& error) {
    const toml::source_position& at = error.source().begin;
    return usage_error(
        fmt::format("{}, line {}, column {}: {}", path, at.line, at.column, error.description()));
  }
}

Status add_rules(const toml::table& table, std::vector<VariableRule>& rules) {
  NEVE_ASSIGN(const std::vector<std::string> patterns, patterns_of(table));
  std::string settings;
  for (const auto& [key, value] : table) {
    if (key.str() == "match") continue;
    NEVE_ASSIGN(const std::optional<std::string> setting, setting_text(std::string(key.str()), value));
    if (setting) settings += (settings.empty() ? "" : ",") + *setting;
  }
  if (settings.empty()) return usage_error(fmt::format("it sets nothing; allowed keys: {}", allowed_keys()));
  for (const std::string& pattern : patterns) {
    NEVE_ASSIGN(VariableRule rule, parse_variable_rule(pattern + ":" + settings, ""));
    rules.push_back(std::move(rule));
  }
  return {};
}

// What of one rule can have no effect, whatever the others say.
Status check_rule(const VariableRule& rule) {
  const bool sets_more = rule.bound || rule.codec || rule.tuning || rule.effort || rule.fill;
  if (rule.is_unchanged && sets_more)
    return usage_error("unchanged copies the variable as it is stored; no other setting can go with it");
  if (!rule.codec) return {};
  if (rule.bound) {
    NEVE_TRY(check_keeps_bound(*rule.bound, *rule.codec));
    NEVE_TRY(check_uses_bound(*rule.bound, *rule.codec));
  }
  return options::refuse_idle_settings(*rule.codec, rule.bound, rule.effort,
                                       rule.tuning.value_or(CodecTuning()));
}

// Whether "unchanged" or "unchanged=true" is among the settings of `text`; the others, into `others`.
Result<bool> take_unchanged(std::string_view text, std::string& others) {
  if (text.starts_with(',') || text.ends_with(',') || text.find(",,") != std::string_view::npos) {
    return usage_error(
        fmt::format("'{}' has an empty setting; allowed settings: {}", text, allowed_settings()));
  }
  std::istringstream settings{std::string(text)};
  std::optional<bool> unchanged;
  for (std::string setting; std::getline(settings, setting, ',');) {
    const size_t equals = setting.find('=');
    if (setting.substr(0, equals) != unchanged_key) {
      others += (others.empty() ? "" : ",") + setting;
      continue;
    }
    if (unchanged) return usage_error(fmt::format("{} is given twice", unchanged_key));
    unchanged = true;
    if (equals == std::string::npos) continue;
    NEVE_TRY(options::parse_value(setting.substr(equals + 1), *unchanged).in(unchanged_key));
  }
  return unchanged.value_or(false);
}

Result<VariableRule> parse_settings(const std::string& text, const std::string& prefix) {
  const size_t colon = text.rfind(':');
  if (colon == std::string::npos || colon == 0 || colon + 1 == text.size()) {
    return usage_error(
        fmt::format("{}'{}' is not PATTERN:SETTING; allowed settings: {}", prefix, text, allowed_settings()));
  }
  VariableRule rule;
  rule.pattern = text.substr(0, colon);
  std::string others;
  const Result<bool> unchanged = take_unchanged(text.substr(colon + 1), others);
  if (!unchanged.ok()) return unchanged.status().in(prefix + rule.pattern);
  rule.is_unchanged = *unchanged;
  if (others.empty()) return rule;
  auto said = options::parse_rule(others, options::variable_rule);
  if (!said.ok()) return said.status().in(prefix + rule.pattern);
  rule.bound = said->bound;
  rule.codec = said->codec;
  rule.tuning = said->tuning;
  rule.fill = said->fill;
  rule.effort = said->effort;
  return rule;
}

}  // namespace

Result<VariableRule> parse_variable_rule(const std::string& text, const std::string& prefix) {
  NEVE_ASSIGN(VariableRule rule, parse_settings(text, prefix));
  NEVE_TRY(check_rule(rule).in(prefix + rule.pattern));
  return rule;
}

Result<std::vector<VariableRule>> read_rules_file(const std::string& path) {
  NEVE_ASSIGN(const std::string text, plotfile::read_text(path));
  NEVE_ASSIGN(const toml::table parsed, parse_toml(text, path));
  std::vector<VariableRule> rules;
  for (const auto& [key, value] : parsed) {
    const toml::array* const tables = value.as_array();
    if (key.str() != "rule" || tables == nullptr || !tables->is_array_of_tables()) {
      return usage_error(fmt::format("{}: '{}' is not known; a rules file holds only tables [[rule]]", path,
                                     std::string(key.str())));
    }
    size_t number = 0;
    for (const toml::node& rule : *tables) {
      NEVE_TRY(add_rules(*rule.as_table(), rules).in(fmt::format("{}, rule {}", path, ++number)));
    }
  }
  if (rules.empty()) return usage_error(fmt::format("{} holds no table [[rule]]", path));
  return rules;
}

}  // namespace neve::cli
