// SPDX-License-Identifier: BSD-3-Clause
#include "tools/common/heeded_tuning.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace neve::cli {
namespace {

bool may_be_lossless(const CodecUse& use) {
  return use.codec == Codec::lossless || (use.codec == Codec::automatic && use.is_lossless);
}
bool chooses_or_is_lossless(const CodecUse& use) {
  return use.codec == Codec::automatic || may_be_lossless(use);
}
bool may_have_blocks(const CodecUse& use) {
  return !use.is_lossless && (use.codec == Codec::lorenzo_regression ||
                              (use.codec == Codec::automatic && use.effort == Effort::max));
}
bool may_merge_units(const CodecUse& use) {
  const Arrangement arrangement = use.tuning.arrangement;
  return may_have_blocks(use) && arrangement != Arrangement::in_place && arrangement != Arrangement::cluster;
}

constexpr TuningOption options[] = {
    {"block", [](const CodecTuning& t) { return t.block_cells != 0; }, may_have_blocks,
     "prediction blocks are codec lorenzo_regression's, which auto tries at effort max; its bound is not "
     "lossless"},
    {"merge-units", [](const CodecTuning& t) { return t.merge_units; }, may_merge_units,
     "unit blocks are merged by codec lorenzo_regression, which auto tries at effort max, in arrangement "
     "linear"},
    {"method", [](const CodecTuning& t) { return t.method != LosslessMethod::automatic; }, may_be_lossless,
     "it is of codec lossless: allowed with --codec lossless, or with --bound lossless and --codec auto",
     true},
    {"speed-weight", [](const CodecTuning& t) { return t.speed_weight != CodecTuning().speed_weight; },
     chooses_or_is_lossless, "nothing is weighed; allowed with --codec auto and lossless", true},
    {"ratio-weight", [](const CodecTuning& t) { return t.ratio_weight != CodecTuning().ratio_weight; },
     chooses_or_is_lossless, "nothing is weighed; allowed with --codec auto and lossless", true},
};

}  // namespace

std::span<const TuningOption> heeded_tuning() { return options; }

bool is_no_exact(const CodecUse& use) { return use.codec != Codec::exact; }

Status refuse_idle_settings(Codec codec, const std::optional<Bound>& bound,
                            const std::optional<Effort>& effort, const CodecTuning& tuning) {
  if (codec == Codec::exact && effort) {
    return usage_error("effort has no meaning with codec exact, which knows one way only");
  }
  std::vector<CodecUse> uses;
  for (const bool is_lossless : {false, true}) {
    if (bound && (bound->mode == BoundMode::lossless) != is_lossless) continue;
    for (const Effort possible : {Effort::fast, Effort::max}) {
      uses.push_back({"", codec, effort.value_or(possible), is_lossless, tuning});
    }
  }
  const bool may_be_of_integers = !bound && !keeps_integers(codec);  // which take another codec
  for (const TuningOption& option : options) {
    if (option.is_of_integers && may_be_of_integers) continue;
    if (!option.is_given(tuning) || std::any_of(uses.begin(), uses.end(), option.heeds)) continue;
    return usage_error(
        fmt::format("{} has no meaning with codec {}: {}", option.name, codec_name(codec), option.of));
  }
  return {};
}

}  // namespace neve::cli
