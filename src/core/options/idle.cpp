// SPDX-License-Identifier: BSD-3-Clause
#include "core/options/idle.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "core/catalog/codecs.hpp"
#include "core/catalog/strategies.hpp"
#include "core/format/codec_choices.hpp"

namespace neve::options {
namespace {

constexpr std::string_view exact_knows_one_way =
    "has no meaning with codec exact, which encodes in one way only";

bool is_used_in_any(const Option& row, const std::vector<CodecUse>& uses) {
  return std::any_of(uses.begin(), uses.end(), [&](const CodecUse& use) { return is_used(row, use); });
}

// They take codec lossless whatever the bound and the codec say.
bool is_used_by_integers(const Option& row, CodecUse use) {
  use.codec = Codec::lossless;
  use.is_lossless = true;
  return row.is_of_integers && is_used(row, use);
}

// " and arrangement cluster", where another arrangement would give the setting a meaning; else nothing.
std::string with_arrangement(const Option& row, const std::vector<CodecUse>& uses) {
  const Arrangement told = uses.front().tuning.arrangement;
  std::vector<CodecUse> others = uses;
  for (CodecUse& other : others) other.tuning.arrangement = Arrangement::automatic;
  if (!is_used_in_any(row, others)) return {};
  return fmt::format(" and arrangement {}", arrangement_name(told));
}

// " with codec lossless and method zstd": what was said of them, of which only auto is not told.
std::string with_chosen(const CodecUse& use) {
  std::vector<std::string> said;
  if (use.codec != Codec::automatic) said.push_back(fmt::format("codec {}", codec_name(use.codec)));
  if (use.tuning.method != LosslessMethod::automatic)
    said.push_back(fmt::format("method {}", lossless_method_name(use.tuning.method)));
  return said.empty() ? "" : fmt::format(" with {}", fmt::join(said, " and "));
}

// Those that take the tuning that `use` was told.
std::vector<CodecUse> sharing_tuning(const std::vector<CodecUse>& uses, const CodecUse& use) {
  std::vector<CodecUse> sharing;
  std::copy_if(uses.begin(), uses.end(), std::back_inserter(sharing), [&](const CodecUse& other) {
    return other.who == use.who || (use.who.empty() && other.tuning == use.tuning);
  });
  return sharing;
}

Status refuse_idle_tuning(const Asked& asked, const std::vector<CodecUse>& uses, const CodecUse& use,
                          bool of_variables) {
  // What a rule has from the common options is theirs, not the rule's.
  if (!use.who.empty() && (of_variables || use.tuning == uses.front().tuning)) return {};
  const std::vector<CodecUse> sharing = sharing_tuning(uses, use);
  for (const Option* option : changed_rows(use.tuning)) {
    if (is_used_in_any(*option, sharing) || (of_variables && is_used_by_integers(*option, use))) continue;
    const std::string name =
        use.who.empty() ? asked.named(option->key) : fmt::format("{}: {}", use.who, dashed(option->key));
    return usage_error(fmt::format("{} has no meaning with bound {} and codec {} at effort {}{}: {}", name,
                                   use.is_lossless ? "lossless" : "abs or rel", codec_name(use.codec),
                                   effort_name(use.effort), with_arrangement(*option, {use}),
                                   option->purpose));
  }
  return {};
}

// A bound that allows errors, of codecs that make none.
Status refuse_idle_bounds(const Asked& asked, const std::vector<CodecUse>& uses, bool of_variables) {
  const CodecUse& common = uses.front();
  if (asked.is_given("bound") && std::none_of(uses.begin(), uses.end(), [](const CodecUse& use) {
        return !use.has_own_bound && check_uses_bound(use.bound, use.codec).ok();
      })) {
    NEVE_TRY(check_uses_bound(common.bound, common.codec, asked.named("bound")));
  }
  for (const CodecUse& use : uses) {
    if (!use.has_own_bound || of_variables) continue;
    NEVE_TRY(check_uses_bound(use.bound, use.codec).in(use.who));
  }
  return {};
}

// Strategy amrex-1d encodes each chunk as an array, with codecs as they are.
Status refuse_tuning_of_arrays(const Asked& asked, const WriteOptions& options,
                               const std::string& rule_prefix) {
  constexpr const char* why_not = "with strategy amrex-1d, whose codec has no such settings";
  for (const Option& option : table()) {
    if (!option.is_of_tuning || !asked.is_given(option.key)) continue;
    return usage_error(fmt::format("{} has no meaning {}", asked.named(option.key), why_not));
  }
  for (const auto& [name, rule] : options.fields) {
    if (!rule.tuning) continue;
    return usage_error(fmt::format("{}{}: an arrangement, blocks or a method have no meaning {}", rule_prefix,
                                   name, why_not));
  }
  return {};
}

bool may_predict_across_levels(const CodecUse& use) {
  return !use.is_lossless && may_nest(use.codec, use.effort);
}

}  // namespace

Status refuse_idle_of_plotfile(const Asked& asked, const WriteOptions& options,
                               const std::string& rule_prefix) {
  const bool is_1d = options.strategy == "amrex-1d", is_filtered = options.strategy == "filtered";
  if (is_1d) NEVE_TRY(refuse_tuning_of_arrays(asked, options, rule_prefix));
  if ((is_1d || is_filtered) && asked.is_given("chunk_size")) {
    return usage_error(fmt::format(
        "{} has no meaning with strategy {}, whose chunks are {}", asked.named("chunk_size"),
        options.strategy,
        is_filtered ? "everything that a rank holds of a level" : "of as many values as chunk-values says"));
  }
  if (!is_1d && asked.is_given("chunk_values")) {
    return usage_error(fmt::format("{} has no meaning with strategy {}; it is allowed with strategy amrex-1d",
                                   asked.named("chunk_values"), options.strategy));
  }
  const std::vector<CodecUse> uses = codec_uses(options, rule_prefix);
  if (asked.is_given("cross_level") && options.cross_level &&
      std::none_of(uses.begin(), uses.end(), may_predict_across_levels)) {
    return usage_error(fmt::format(
        "{} has no meaning with these codecs; it is allowed with interpolation and context (asked "
        "for, or chosen by auto at effort balanced and max), with a bound other than lossless",
        asked.named("cross_level")));
  }
  return refuse_idle_codec_options(asked, uses);
}

Status refuse_idle_layout(const Asked& asked, const WriteOptions& options) {
  if (options.strategy != strategy_name(Strategy::independent)) return {};
  for (const std::string_view key : {"aggregators", "buffer_size"}) {
    if (!asked.is_given(key)) continue;
    return usage_error(
        fmt::format("{} has no meaning with strategy {}, in which every rank writes for itself",
                    asked.named(key), options.strategy));
  }
  return {};
}

std::vector<const Option*> changed_rows(CodecTuning tuning) {
  CodecTuning untouched;
  if (tuning == untouched) return {};  // mostly, and of every small array that Python compresses
  Slots changed, usual;
  changed.tuning = &tuning;
  usual.tuning = &untouched;
  std::vector<const Option*> rows;
  for (const Option& row : table()) {
    if (row.is_of_tuning && row.print(changed) != row.print(usual)) rows.push_back(&row);
  }
  return rows;
}

CodecUse use_of(std::string who, Codec codec, Effort effort, const Bound& bound, const CodecTuning& tuning) {
  return {std::move(who), codec, effort, bound.mode == BoundMode::lossless, tuning, bound};
}

std::vector<CodecUse> codec_uses(const ArrayOptions& options) {
  return {use_of("", options.codec, options.encode.effort, options.bound, options.tuning)};
}

std::vector<CodecUse> codec_uses(const WriteOptions& options, const std::string& rule_prefix) {
  const Effort effort = options.encode.effort;
  std::vector<CodecUse> uses = {use_of("", options.codec, effort, options.bound, options.tuning)};
  for (const auto& [name, rule] : options.fields) {
    uses.push_back(use_of(rule_prefix + name, rule.codec.value_or(options.codec), effort,
                          rule.bound.value_or(options.bound), rule.tuning.value_or(options.tuning)));
    uses.back().has_own_bound = rule.bound.has_value();
  }
  return uses;
}

Status refuse_idle_codec_options(const Asked& asked, const std::vector<CodecUse>& uses, bool of_variables) {
  const CodecUse& common = uses.front();
  if (!can_keep_every_bit(common.codec) && asked.is_given("codec") &&
      std::none_of(uses.begin(), uses.end(),
                   [&](const CodecUse& use) { return !use.is_lossless && use.codec == common.codec; })) {
    return usage_error(
        fmt::format("{} {} has no meaning with bound lossless, which it cannot keep; allowed are auto, "
                    "lossless and exact",
                    asked.named("codec"), codec_name(common.codec)));
  }
  NEVE_TRY(refuse_idle_bounds(asked, uses, of_variables));
  if (asked.is_given("effort") && std::none_of(uses.begin(), uses.end(), is_not_exact)) {
    return usage_error(fmt::format("{} {}", asked.named("effort"), exact_knows_one_way));
  }
  for (const CodecUse& use : uses) {
    if (!of_variables && use.is_lossless && use.codec != common.codec) {
      NEVE_TRY(check_keeps_bound({BoundMode::lossless, 0}, use.codec).in(use.who));
    }
    NEVE_TRY(refuse_idle_tuning(asked, uses, use, of_variables));
  }
  return {};
}

Status refuse_idle_choices(const Asked& asked, const CodecUse& use, bool may_be_of_integers) {
  for (const Option& option : table()) {
    if (!option.is_of_choice || !asked.is_given(option.key) || is_used(option, use)) continue;
    if (may_be_of_integers && is_used_by_integers(option, use)) continue;
    return usage_error(
        fmt::format("{} has no meaning{}: {}", asked.named(option.key), with_chosen(use), option.purpose));
  }
  return {};
}

Status refuse_idle_settings(Codec codec, const std::optional<Bound>& bound,
                            const std::optional<Effort>& effort, const CodecTuning& tuning) {
  if (codec == Codec::exact && effort) return usage_error(fmt::format("effort {}", exact_knows_one_way));
  std::vector<CodecUse> uses;
  for (const bool is_lossless : {false, true}) {
    if (bound && (bound->mode == BoundMode::lossless) != is_lossless) continue;
    for (const Effort possible : {Effort::fast, Effort::max}) {
      uses.push_back({"", codec, effort.value_or(possible), is_lossless, tuning});
    }
  }
  const bool may_be_of_integers = !bound && !keeps_integers(codec);  // which take another codec
  for (const Option* option : changed_rows(tuning)) {
    if (may_be_of_integers && is_used_by_integers(*option, uses.front())) continue;
    if (is_used_in_any(*option, uses)) continue;
    return usage_error(fmt::format("{} has no meaning with codec {}{}: {}", dashed(option->key),
                                   codec_name(codec), with_arrangement(*option, uses), option->purpose));
  }
  return {};
}

}  // namespace neve::options
