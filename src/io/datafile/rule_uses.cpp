// SPDX-License-Identifier: BSD-3-Clause
#include "io/datafile/rule_uses.hpp"

#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>
#include <map>
#include <utility>

#include "io/datafile/netcdf_names.hpp"

namespace neve::datafile {
namespace {

bool matches(const std::string& pattern, const std::string& path) {
  if (pattern.find('/') == std::string::npos) {
    return ::fnmatch(pattern.c_str(), path.c_str() + path.rfind('/') + 1, 0) == 0;
  }
  const std::string whole = pattern.front() == '/' ? pattern : "/" + pattern;
  return ::fnmatch(whole.c_str(), path.c_str(), 0) == 0;
}

bool matches_any(const std::string& pattern, const std::vector<std::string>& names) {
  return std::any_of(names.begin(), names.end(),
                     [&](const std::string& name) { return matches(pattern, netcdf_path(name)); });
}

bool is_lossy(const Bound& bound) { return bound.mode != BoundMode::lossless; }

// All that a rule says but for the bound.
void apply_codec_settings(const VariableRule& rule, VariablePlan& plan) {
  if (rule.codec) plan.encode.codec = *rule.codec;
  if (rule.tuning) plan.encode.tuning = *rule.tuning;
  if (rule.effort) plan.encode.encode.effort = *rule.effort;
  if (rule.fill) plan.encode.fill = rule.fill;
  if (rule.is_unchanged) plan.why_not = unchanged_by_rule;
}

}  // namespace

bool names_variable(const std::string& pattern) {
  return pattern.find_first_of("*?[", pattern.rfind('/') + 1) == std::string::npos;
}

RuleUses::RuleUses(const CopyOptions& options)
    : options_(options), uses_(options.rules.size()), settings_(options) {}

void RuleUses::apply(const std::vector<std::string>& names, std::optional<GridReason> grid,
                     VariablePlan& plan) {
  matching_.clear();
  const bool takes_bounds = plan.why_not.empty() && !is_integer(*plan.variable.dtype);
  bool is_named = false, is_kept = grid && is_lossy(plan.asked);
  if (is_kept) plan.asked = {BoundMode::lossless, 0};
  for (size_t r = 0; r < uses_.size(); ++r) {
    const VariableRule& rule = options_.rules[r];
    if (!matches_any(rule.pattern, names)) continue;
    uses_[r].matched = true;
    matching_.push_back(r);
    const bool is_for_others = grid && rule.bound && is_lossy(*rule.bound) && !names_variable(rule.pattern);
    if (is_for_others && takes_bounds) {
      uses_[r].grid_variable = fmt::format("{} ({})", netcdf_path(names.front()), grid->text());
      is_kept |= !is_named;
    } else if (rule.bound) {
      plan.asked = *rule.bound;
      is_named = true;
      is_kept = false;
    }
    uses_[r].bound_used |= takes_bounds && plan.why_not.empty() && !is_for_others;
    apply_codec_settings(rule, plan);
  }
  if (is_kept && takes_bounds) plan.kept_as_grid = std::move(grid);
}

void RuleUses::note(const VariablePlan& plan) {
  settings_.note_variable(plan);
  if (plan.is_coded) {
    settings_.note(options::use_of("", plan.encode.codec, plan.encode.encode.effort, plan.asked, {}),
                   matching_);
  } else if (plan.why_not == unchanged_by_rule) {
    settings_.note(std::nullopt, matching_);
  }
}

Status RuleUses::check(const std::string& where) const {
  for (size_t r = 0; r < uses_.size(); ++r) NEVE_TRY(check_rule(r, where));
  return settings_.check();
}

Status RuleUses::check_rule(size_t r, const std::string& where) const {
  const VariableRule& rule = options_.rules[r];
  const Use& use = uses_[r];
  if (!use.matched) {
    return usage_error(fmt::format("the rule for '{}' matches no variable of {}", rule.pattern, where));
  }
  if (!rule.bound || !is_lossy(*rule.bound) || use.bound_used) return {};
  if (!use.grid_variable.empty()) {
    return usage_error(fmt::format(
        "the rule for '{}' gives a bound, but it matches only variables that describe the grid, such as "
        "{}; these stay lossless unless a rule gives their full name, without *, ? or [",
        rule.pattern, use.grid_variable));
  }
  return usage_error(fmt::format(
      "the rule for '{}' gives a bound, but it matches no variable whose values Neve can code within one",
      rule.pattern));
}

DatasetNames::DatasetNames(const Contents& contents, const std::vector<VariableRule>& rules) {
  if (rules.empty()) return;
  for (const Entry& entry : contents.entries)
    if (entry.kind == EntryKind::hard_link)
      links_.emplace(entry.target == "/" ? "" : entry.target, entry.path);
}

std::vector<std::string> DatasetNames::of(const std::string& path) const {
  std::vector<std::string> names = {path};
  if (links_.empty()) return names;
  for (size_t n = 0; n < names.size(); ++n) {
    const std::string name = names[n];
    for (size_t end = name.size();; end = name.rfind('/', end - 1)) {
      const auto [first, last] = links_.equal_range(name.substr(0, end));
      for (auto link = first; link != last; ++link) {
        if (names.size() == most) return names;
        const std::string other = link->second + name.substr(end);
        if (std::find(names.begin(), names.end(), other) == names.end()) names.push_back(other);
      }
      if (end == 0) break;
    }
  }
  return names;
}

}  // namespace neve::datafile
