// SPDX-License-Identifier: BSD-3-Clause
// What lossless methods make of some parts of a step.
#pragma once

#include <array>
#include <cstddef>
#include <utility>
#include <vector>

#include "core/codecs/method_comparison.hpp"
#include "core/codecs/step.hpp"
#include "core/select/method_speeds.hpp"
#include "neve/frame.hpp"

namespace neve {

class PartTrials {
 public:
  // The arguments outlive it.
  PartTrials(const Step& step, const ArrayOptions& options, const MethodSpeeds& speeds, PartSize size);

  // All parts by the method, once. Errors: those of encode_array; that ranks cannot hold the values is none.
  Status code(LosslessMethod method);

  bool has_coded(LosslessMethod method) const { return entry(method).is_coded; }
  // Whether they are the step in one piece; then the step as methods coded it can be taken.
  bool is_whole() const { return is_whole_; }
  std::vector<WholeStep> take_wholes() { return std::move(wholes_); }
  // Of one value each, as far as they were coded: no method was needed.
  bool is_constant() const { return is_constant_; }
  const std::vector<StepPart>& parts() const { return parts_; }

  // 0: not coded, or it cannot hold the values.
  double ratio(LosslessMethod method) const;
  double score(LosslessMethod method) const;
  // Those that have a score, the best first.
  std::vector<MethodScore> scores() const;

 private:
  struct Entry {
    bool is_coded = false;
    double bytes = 0;  // 0: it cannot hold the values
  };
  const Entry& entry(LosslessMethod method) const { return entries_[static_cast<size_t>(method)]; }
  bool is_hopeless(LosslessMethod method) const;

  const Step& step_;
  const ArrayOptions& options_;
  const MethodSpeeds& speeds_;
  std::vector<StepPart> parts_;
  double raw_bytes_ = 0;
  bool is_whole_, is_constant_ = true;
  std::array<Entry, lossless_methods> entries_{};
  std::vector<WholeStep> wholes_;
};

}  // namespace neve
