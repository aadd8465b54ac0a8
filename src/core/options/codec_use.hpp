// SPDX-License-Identifier: BSD-3-Clause
// Which of a codec's settings mean something to which codec, bound and effort.
#pragma once

#include <string>

#include "core/options/value_text.hpp"
#include "neve/types.hpp"

namespace neve::options {

// What will encode some of the values.
struct CodecUse {
  std::string who;  // "" without a rule of its own, else as in "--field density"
  Codec codec = Codec::automatic;
  Effort effort = Effort::fast;
  bool is_lossless = false;
  CodecTuning tuning;
  Bound bound = {};
  bool has_own_bound = false;  // a rule's own, not that of the others
};
using UseTest = bool (*)(const CodecUse&);

bool may_be_lossless(const CodecUse& use);
bool weighs_candidates(const CodecUse& use);
bool weighs_speed(const CodecUse& use);
bool may_have_blocks(const CodecUse& use);
bool may_merge_units(const CodecUse& use);
bool is_not_exact(const CodecUse& use);

}  // namespace neve::options
