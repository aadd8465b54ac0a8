// SPDX-License-Identifier: BSD-3-Clause
// Lossless methods compared by what they make of parts of a step: all of small ones, and what comes close to
// the best there of larger and larger ones.
#pragma once

#include <cstdint>
#include <vector>

#include "core/codecs/step_codec.hpp"
#include "core/select/method_speeds.hpp"
#include "neve/frame.hpp"

namespace neve {

struct MethodScore {
  LosslessMethod method = LosslessMethod::automatic;
  double score = 0;  // 0: it cannot hold the values
};

// The best first.
void sort_by_score(std::vector<MethodScore>& scores);

// The step as a method codes it, where it had to be coded to know.
struct WholeStep {
  LosslessMethod method = LosslessMethod::automatic;
  EncodedStep encoded;
};

struct MethodComparison {
  std::vector<MethodScore> scores;  // the best first; none: there is nothing to choose
  std::vector<WholeStep> wholes;

  double score_of(LosslessMethod method) const;  // 0 of others
};

// The whole step by a method, of which scores then are; nothing where that is in `made` already. Errors:
// those of encode_array; ranks that cannot hold the values score 0.
Status code_whole(const Step& step, const ArrayOptions& options, const MethodSpeeds& speeds,
                  LosslessMethod method, MethodComparison& made);

// Of all candidates that can code here; `also` are those that were the best of an earlier step.
// `are_known`: what some make of steps like this one, so that parts need not tell close ones apart. What
// repeats over distances that the step's print shows, but no part, is found by coding the step, and so are
// periods of which a part has few. Errors: those of encode_array.
Result<MethodComparison> compare_methods(const Step& step, const ArrayOptions& options,
                                         const StepPrint& print, const std::vector<LosslessMethod>& also,
                                         const MethodSpeeds& speeds, bool are_known);

}  // namespace neve
