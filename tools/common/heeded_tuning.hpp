// SPDX-License-Identifier: BSD-3-Clause
// Which of a codec's settings mean something to which codec, bound and effort.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "neve/frame.hpp"
#include "neve/status.hpp"

namespace neve::cli {

// What will encode some of the values.
struct CodecUse {
  std::string who;  // "" without a rule of its own, else as in "--field density"
  Codec codec = Codec::automatic;
  Effort effort = Effort::fast;
  bool is_lossless = false;
  CodecTuning tuning;
};
using Heeds = bool (*)(const CodecUse&);

struct TuningOption {
  const char* name;  // after --, and of a rule's setting
  bool (*is_given)(const CodecTuning&);
  Heeds heeds;
  const char* of;               // what it is for, in words
  bool is_of_integers = false;  // they take codec lossless whatever the bound says
};
std::span<const TuningOption> heeded_tuning();

bool is_no_exact(const CodecUse& use);

// The settings of one rule that has a codec: usage error for the first that the codec heeds under no bound
// and effort that the rule leaves open.
Status refuse_idle_settings(Codec codec, const std::optional<Bound>& bound,
                            const std::optional<Effort>& effort, const CodecTuning& tuning);

}  // namespace neve::cli
