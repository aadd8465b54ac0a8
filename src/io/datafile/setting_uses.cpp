// SPDX-License-Identifier: BSD-3-Clause
#include "io/datafile/setting_uses.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

namespace neve::datafile {
namespace {

// What was said of codecs and chunks.
std::string_view given_setting(const CopyOptions& options) {
  return options.bound.mode != BoundMode::lossless ? "bound"
         : options.codec != Codec::automatic       ? "codec"
         : options.effort != Effort::fast          ? "effort"
         : options.fill                            ? "fill"
         : options.chunk_bytes                     ? "chunk-size"
                                                   : "";
}

}  // namespace

SettingUses::SettingUses(const CopyOptions& options)
    : options_(options), unused_(options::changed_rows(options.tuning)) {
  for (const VariableRule& rule : options.rules) {
    unused_by_rules_.push_back(rule.tuning ? options::changed_rows(*rule.tuning) : Rows());
  }
}

void SettingUses::drop_used(Rows& rows, options::CodecUse use, const CodecTuning& tuning) {
  use.tuning = tuning;
  std::erase_if(rows, [&](const options::Option* row) { return options::is_used(*row, use); });
}

void SettingUses::note(const std::optional<options::CodecUse>& use, const std::vector<size_t>& rules) {
  bool is_tuned = false;
  for (const size_t r : rules) {
    const VariableRule& rule = options_.rules[r];
    if (!rule.tuning) continue;
    is_tuned = true;
    if (use) {
      drop_used(unused_by_rules_[r], *use, *rule.tuning);
    } else {
      unused_by_rules_[r].clear();
    }
  }
  if (use && !is_tuned) drop_used(unused_, *use, options_.tuning);
}

Status SettingUses::check() const {
  for (size_t r = 0; r < unused_by_rules_.size(); ++r) {
    if (unused_by_rules_[r].empty()) continue;
    const options::Option& row = *unused_by_rules_[r].front();
    return usage_error(
        fmt::format("the rule for '{}': {} has no meaning for the variables that it matches, as they are "
                    "coded here: {}",
                    options_.rules[r].pattern, options::dashed(row.key), row.purpose));
  }
  if (!unused_.empty()) {
    return usage_error(fmt::format("{} has no meaning for any variable, as they are coded here: {}",
                                   options::dashed(unused_.front()->key), unused_.front()->purpose));
  }
  const std::string_view idle = is_any_left_ && !is_any_coded_ ? given_setting(options_) : "";
  if (idle.empty()) return {};
  return usage_error(fmt::format("{} has no meaning where the rules leave all variables unchanged", idle));
}

void SettingUses::note_variable(const VariablePlan& plan) {
  is_any_coded_ |= plan.is_coded;
  is_any_left_ |= plan.why_not == unchanged_by_rule;
}

}  // namespace neve::datafile
