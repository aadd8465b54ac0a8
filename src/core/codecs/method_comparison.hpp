// SPDX-License-Identifier: BSD-3-Clause
// Lossless methods compared by what they make of parts of a step.
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

// Of the methods that the parts suggest, and of `also`. What repeats over distances that the step's print
// shows, but no part, is found by coding the step; so are short periods, of which a part has few. Errors:
// those of encode_array.
Result<MethodComparison> compare_methods(const Step& step, const ArrayOptions& options,
                                         const StepPrint& print, const std::vector<LosslessMethod>& also,
                                         const MethodSpeeds& speeds);

}  // namespace neve
