// SPDX-License-Identifier: BSD-3-Clause
#include "core/options/codec_use.hpp"

namespace neve::options {

bool may_be_lossless(const CodecUse& use) {
  return use.codec == Codec::lossless || (use.codec == Codec::automatic && use.is_lossless);
}

bool weighs_candidates(const CodecUse& use) {
  if (may_be_lossless(use)) return use.tuning.method == LosslessMethod::automatic;
  return use.codec == Codec::automatic;
}

bool weighs_speed(const CodecUse& use) { return weighs_candidates(use) && use.tuning.speed_weight > 0; }

bool may_have_blocks(const CodecUse& use) {
  return !use.is_lossless && (use.codec == Codec::lorenzo_regression ||
                              (use.codec == Codec::automatic && use.effort != Effort::fast));
}

bool may_merge_units(const CodecUse& use) {
  const Arrangement arrangement = use.tuning.arrangement;
  const bool is_merging = may_have_blocks(use) || (!use.is_lossless && use.codec == Codec::interpolation);
  return is_merging && arrangement != Arrangement::in_place && arrangement != Arrangement::cluster;
}

bool is_not_exact(const CodecUse& use) { return use.codec != Codec::exact; }

}  // namespace neve::options
