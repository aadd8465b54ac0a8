// SPDX-License-Identifier: BSD-3-Clause
#include "tools/common/idle_options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "core/format/codec_choices.hpp"
#include "tools/common/deck.hpp"
#include "tools/common/heeded_tuning.hpp"

namespace neve::cli {
namespace {

// Those that take the tuning that `use` was told.
std::vector<CodecUse> sharing_tuning(const std::vector<CodecUse>& uses, const CodecUse& use) {
  std::vector<CodecUse> sharing;
  std::copy_if(uses.begin(), uses.end(), std::back_inserter(sharing), [&](const CodecUse& other) {
    return other.who == use.who || (use.who.empty() && other.tuning == use.tuning);
  });
  return sharing;
}

std::string named(const CodecUse& use, const char* option) {
  return use.who.empty() ? fmt::format("--{}", option) : fmt::format("{}: {}", use.who, option);
}

}  // namespace

Status refuse_idle(const CLI::App& command, const std::vector<OptionUse>& uses) {
  for (const OptionUse& use : uses) {
    if (use.has_effect || command.count(use.option) == 0 || is_from_deck(*command.get_option(use.option))) {
      continue;
    }
    return usage_error(fmt::format("{} has no meaning {}", use.option, use.why_not));
  }
  return {};
}

Status refuse_idle(const CLI::App& command, std::initializer_list<OptionUse> uses) {
  return refuse_idle(command, std::vector<OptionUse>(uses));
}

std::vector<CodecUse> codec_uses(const WriteOptions& options) {
  const auto is_lossless = [](const Bound& bound) { return bound.mode == BoundMode::lossless; };
  const Effort effort = options.encode.effort;
  std::vector<CodecUse> uses = {{"", options.codec, effort, is_lossless(options.bound), options.tuning}};
  for (const auto& [name, rule] : options.fields) {
    uses.push_back({"--field " + name, rule.codec.value_or(options.codec), effort,
                    is_lossless(rule.bound.value_or(options.bound)), rule.tuning.value_or(options.tuning)});
  }
  return uses;
}

Status refuse_idle_codec_options(const CLI::App& command, const std::vector<CodecUse>& uses,
                                 bool of_variables) {
  const CodecUse& common = uses.front();
  const auto any = [](const std::vector<CodecUse>& of, Heeds heeds) {
    return std::any_of(of.begin(), of.end(), heeds);
  };
  if (!can_keep_every_bit(common.codec) && command.count("--codec") > 0 &&
      std::none_of(uses.begin(), uses.end(),
                   [&](const CodecUse& use) { return !use.is_lossless && use.codec == common.codec; })) {
    return usage_error(
        fmt::format("--codec {} has no meaning with bound lossless, which it cannot keep; allowed are auto, "
                    "lossless and exact",
                    codec_name(common.codec)));
  }
  if (command.count("--effort") > 0 && !any(uses, is_no_exact)) {
    return usage_error("--effort has no meaning with codec exact, which knows one way only");
  }
  for (const CodecUse& use : uses) {
    if (!of_variables && use.is_lossless && use.codec != common.codec) {
      NEVE_TRY(check_keeps_bound({BoundMode::lossless, 0}, use.codec).in(use.who));
    }
    const std::vector<CodecUse> sharing = sharing_tuning(uses, use);
    for (const TuningOption& option : heeded_tuning()) {
      if (!option.is_given(use.tuning) || any(sharing, option.heeds)) continue;
      if (of_variables && (option.is_of_integers || !use.who.empty())) continue;
      // What a rule has from the common options is theirs, not the rule's.
      if (!use.who.empty() && use.tuning == common.tuning) continue;
      return usage_error(fmt::format("{} has no meaning with bound {} and codec {} at effort {}: {}",
                                     named(use, option.name), use.is_lossless ? "lossless" : "abs or rel",
                                     codec_name(use.codec), effort_name(use.effort), option.of));
    }
  }
  return {};
}

}  // namespace neve::cli
