// SPDX-License-Identifier: BSD-3-Clause
// A step of a variable that is kept bit for bit: whether the method of the step before is kept.
#pragma once

#include "core/codecs/step_codec.hpp"
#include "core/select/series_state.hpp"
#include "neve/choice.hpp"

namespace neve {

// Encodes a step by the rules, and completes `choice` but for its variable. The state is the caller's to
// lock.
Result<EncodedStep> encode_kept_step(const Step& step, const ArrayOptions& options, const ChoiceRules& rules,
                                     SeriesState& state, Choice& choice);

}  // namespace neve
