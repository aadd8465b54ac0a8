// SPDX-License-Identifier: BSD-3-Clause
// What is known of one variable of a series between its steps.
#pragma once

#include <atomic>
#include <cmath>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <vector>

#include "core/select/method_speeds.hpp"
#include "core/select/step_print.hpp"
#include "neve/choice.hpp"
#include "neve/types.hpp"

namespace neve {

// When methods are compared follows from the values and the weights; only whether the best one is taken also
// depends on delta. What is kept has an effect of its own: a drift is measured from its performance at the
// last comparison, and what it made of whole steps is remembered. Drifts are measured so that a larger delta
// sees a part of those of a smaller one.
struct SeriesState {
  std::mutex mutex;  // held for a step
  std::atomic<int> decisions = 0;

  std::optional<CodecTuning> tuning;  // by which the choices were made
  MethodSpeeds speeds;
  std::optional<LosslessMethod> kept;
  LosslessMethod last_best = LosslessMethod::automatic;  // of the last comparison
  std::vector<LosslessMethod> best_ones;                 // of any comparison; the kept one is among them

  StepPrint print;         // of the step that was compared last
  double tolerance = 1;    // of changes of the print; grows where comparisons find nothing new
  int in_vain = 0;         // comparisons in a row that found nothing new
  int steps_since = 0;     // the last comparison
  double performance = 0;  // as coded then; 0: not known yet
  // What methods were seen to make of whole steps since the values changed much.
  std::map<LosslessMethod, double> whole_scores;
  uint64_t whole_bytes = 0;          // of these steps
  uint64_t values_without_rank = 0;  // of a piece of the step that ranks could not hold; 0: none
  double drifted = 0;                // the most that the performance has left it by since, as a share
  double rival = HUGE_VAL;  // the score of the second best at the last comparison; infinite: not known

  // What was chosen by other weights or candidates.
  void forget(const CodecTuning& by_now, const ChoiceRules& rules) {
    if (!tuning) speeds = MethodSpeeds(rules.speeds);
    tuning = by_now;
    kept.reset();
    last_best = LosslessMethod::automatic;
    best_ones.clear();
    tolerance = 1;
    in_vain = steps_since = 0;
    performance = drifted = 0;
    rival = HUGE_VAL;
    whole_scores.clear();
    whole_bytes = values_without_rank = 0;
  }
};

}  // namespace neve
