// SPDX-License-Identifier: BSD-3-Clause
// A made series as encode_step takes it, against the best method of each step by force.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "bench/apps/series/made_series.hpp"
#include "neve/choice.hpp"
#include "neve/frame.hpp"
#include "neve/status.hpp"

namespace neve::series {

struct TrialOptions {
  DType dtype = DType::f32;  // or f64
  uint64_t step_bytes = 4 << 20;
  size_t pieces = 1;
  CodecTuning tuning;  // candidates and weights
  ChoiceRules rules;
  Effort effort = Effort::balanced;
};

// What each method makes of steps: bytes; 0: it cannot hold the values. Filled as asked for; of one type,
// size and number of pieces.
class ForcedBytes {
 public:
  // Also encodes each step by every candidate that is one of these, as far as that is not known yet.
  explicit ForcedBytes(LosslessMethods methods = {}) : methods_(methods) {}

  LosslessMethods methods() const { return methods_; }
  double& of(Kind kind, int step, LosslessMethod method) {
    return known_.try_emplace({kind, step}, unknown()).first->second[static_cast<size_t>(method)];
  }
  static bool is_known(double bytes) { return bytes >= 0; }

 private:
  using Methods = std::array<double, lossless_methods>;
  static Methods unknown() {
    Methods bytes;
    bytes.fill(-1);
    return bytes;
  }

  LosslessMethods methods_;
  std::map<std::pair<Kind, int>, Methods> known_;
};

struct Trial {
  std::vector<Choice> log;
  std::vector<double> best_scores;  // of each step by force; none: it was not asked for
  std::vector<LosslessMethod> best_methods;
  std::vector<double> scores;  // of what was written

  // Steps after a change until what is written scores at least 0.97 of the best; the most of both changes.
  int steps_unseen() const;
  double least_score_share() const, mean_score_share() const;
  double choosing_share() const;  // of the CPU time of choosing and coding
  int changes() const;            // reasons drift and rival
};

// Shapes of pieces: three axes, so that all have about step_bytes.
std::vector<uint64_t> piece_shape(const TrialOptions& options);
// `forced`: null where nothing is encoded by force.
Result<Trial> run_trial(const MadeSeries& series, const TrialOptions& options, ForcedBytes* forced);

}  // namespace neve::series
