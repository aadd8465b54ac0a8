// SPDX-License-Identifier: BSD-3-Clause
#include "tools/neve/variable_rules.hpp"

#include <fmt/format.h>
#include <toml++/toml.h>

#include <map>
#include <optional>
#include <sstream>
#include <utility>

#include "core/format/codec_choices.hpp"
#include "io/plotfile/file.hpp"
#include "tools/common/heeded_tuning.hpp"
#include "tools/common/options.hpp"

namespace neve::cli {
namespace {

using datafile::VariableRule;

constexpr const char* allowed_keys =
    "match, bound, codec, method, arrangement, unit, block, merge-units, effort, fill, stays";

// What a rule's table says, as --field would say it.
Result<std::optional<std::string>> setting_text(const std::string& key, const toml::node& value) {
  if (key == "bound" && value.is_string()) return std::optional(**value.as_string());
  if ((key == "merge-units" || key == "stays") && value.is_boolean()) {
    return **value.as_boolean() ? std::optional(key) : std::nullopt;
  }
  const bool is_text = key == "codec" || key == "method" || key == "arrangement" || key == "effort";
  if (is_text && value.is_string()) return std::optional(key + "=" + **value.as_string());
  if ((key == "unit" || key == "block") && value.is_integer()) {
    return std::optional(fmt::format("{}={}", key, **value.as_integer()));
  }
  if (key == "fill" && value.is_number()) {
    return std::optional(fmt::format("{}={}", key, *value.value<double>()));
  }
  return usage_error(
      fmt::format("'{}' is no key of a rule or has a value of the wrong type; allowed keys: {} (numbers for "
                  "fill, unit and "
                  "block, true or false for merge-units and stays, text for the others)",
                  key, allowed_keys));
}

Result<std::vector<std::string>> patterns_of(const toml::table& rule) {
  std::vector<std::string> patterns;
  const toml::node* const match = rule.get("match");
  if (match != nullptr && match->is_string()) patterns.push_back(**match->as_string());
  if (match != nullptr && match->is_array()) {
    for (const toml::node& pattern : *match->as_array()) {
      if (!pattern.is_string()) return usage_error("its key match holds something that is not text");
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
  if (settings.empty()) return usage_error(fmt::format("it sets nothing; allowed keys: {}", allowed_keys));
  for (const std::string& pattern : patterns) {
    NEVE_ASSIGN(VariableRule rule, parse_variable_rule(pattern + ":" + settings));
    rules.push_back(std::move(rule));
  }
  return {};
}

// What of one rule can have no effect, whatever the others say.
Status check_rule(const VariableRule& rule) {
  const bool sets_more = rule.bound || rule.codec || rule.tuning || rule.effort || rule.fill;
  if (rule.stays && sets_more)
    return usage_error("stays leaves the variable as it is; no other setting goes with it");
  if (!rule.codec) return {};
  if (rule.bound) NEVE_TRY(check_keeps_bound(*rule.bound, *rule.codec));
  return refuse_idle_settings(*rule.codec, rule.bound, rule.effort, rule.tuning.value_or(CodecTuning()));
}

Result<VariableRule> parse_settings(const std::string& text) {
  VariableRule rule;
  const size_t colon = text.rfind(':');
  std::string others;
  if (colon != std::string::npos) {
    std::istringstream settings(text.substr(colon + 1));
    for (std::string setting; std::getline(settings, setting, ',');) {
      constexpr std::string_view effort_key = "effort=";
      if (setting == "stays") {
        rule.stays = true;
      } else if (setting.starts_with(effort_key)) {
        NEVE_ASSIGN(rule.effort, parse_effort(setting.substr(effort_key.size())));
      } else {
        others += (others.empty() ? "" : ",") + setting;
      }
    }
    rule.pattern = text.substr(0, colon);
  }
  if (rule.pattern.empty() || others.empty()) {
    if (!rule.pattern.empty() && (rule.stays || rule.effort)) return rule;
    others.clear();
  }
  std::map<std::string, FieldRule> parsed;
  NEVE_TRY(parse_field_rule(others.empty() ? text : rule.pattern + ":" + others, parsed));
  const FieldRule& field = parsed.begin()->second;
  rule.bound = field.bound;
  rule.codec = field.codec;
  rule.tuning = field.tuning;
  rule.fill = field.fill;
  return rule;
}

}  // namespace

Result<VariableRule> parse_variable_rule(const std::string& text) {
  NEVE_ASSIGN(VariableRule rule, parse_settings(text));
  NEVE_TRY(check_rule(rule).in(rule.pattern));
  return rule;
}

Result<std::vector<VariableRule>> read_rules_file(const std::string& path) {
  NEVE_ASSIGN(const std::string text, plotfile::read_text(path));
  NEVE_ASSIGN(const toml::table parsed, parse_toml(text, path));
  std::vector<VariableRule> rules;
  for (const auto& [key, value] : parsed) {
    const toml::array* const tables = value.as_array();
    if (key.str() != "rule" || tables == nullptr || !tables->is_array_of_tables()) {
      return usage_error(fmt::format("{}: '{}' is not known; a rules file holds tables [[rule]] only", path,
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
