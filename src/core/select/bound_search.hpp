// SPDX-License-Identifier: BSD-3-Clause
// Which bound meets a target, when only trying tells: a quantity that falls as the bound grows (bits a value,
// PSNR) and falls by about `per_octave` when the bound doubles (CEAZ, equation 2: one bit a value).
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/math/portable_math.hpp"

namespace neve {

// What the quantity has to pass, and where it falls fastest.
struct SearchTarget {
  double limit;  // bounds are told apart by whether the quantity lies above it
  double aim;    // on the side that is wanted, where the next bound should lead
  double per_octave;
};

// Closes in on the limit from both sides, within [least, most].
class BoundSearch {
 public:
  BoundSearch(double start, double least, double most, const SearchTarget& target)
      : least_(math::log2(least)), most_(math::log2(most)), target_(target) {
    at_ = std::clamp(math::log2(start), least_, most_);
  }

  double bound() const { return std::min(math::exp2(at_), std::numeric_limits<double>::max()); }
  // The next bound lies beyond the last one that is allowed.
  bool is_exhausted() const { return is_exhausted_; }
  // Between the largest bound tried under which the quantity lies above the limit, and the smallest one under
  // which it does not; infinite where one is missing.
  double octaves() const { return is_bracketed() ? below_.at - above_.at : HUGE_VAL; }

  // What the quantity was under bound(), which moves on to the next one to try.
  void tell(double measured) {
    const bool is_above = measured > target_.limit;
    const bool is_same_side = is_bracketed() && is_above == was_above_;
    was_above_ = is_above;
    (is_above ? above_ : below_) = {at_, measured, true};
    if (is_bracketed()) {
      step_between(is_same_side);
    } else {
      step_out(measured);
    }
  }

 private:
  struct Point {
    double at = 0;  // log2 of the bound
    double measured = 0;
    bool is_known = false;
  };

  bool is_bracketed() const { return above_.is_known && below_.is_known; }

  // Where a line through the two leads, but not to either end again. To the middle where a line has just led
  // to the same side, or where there is a cliff between them, of which it knows nothing.
  void step_between(bool is_same_side) {
    constexpr double min_share = 0.03, cliff = 4;
    const bool is_cliff = above_.measured > cliff * target_.limit;
    const double share = is_same_side || is_cliff
                             ? 0.5
                             : (above_.measured - target_.aim) / (above_.measured - below_.measured);
    at_ = above_.at + octaves() * std::clamp(share, min_share, 1 - min_share);
  }

  // As the formula says, and farther each time it did not get there.
  void step_out(double measured) {
    constexpr double min_step = 0.02, max_step = 16;
    const double step = (measured - target_.aim) / target_.per_octave * reach_;
    const double away = std::clamp(std::abs(step), min_step, max_step);
    const double next = std::clamp(at_ + (above_.is_known ? away : -away), least_, most_);
    is_exhausted_ = next == at_;
    at_ = next;
    reach_ *= 2;
  }

  double least_, most_;
  SearchTarget target_;
  double at_;
  double reach_ = 1;
  bool was_above_ = false;
  bool is_exhausted_ = false;
  Point above_, below_;
};

}  // namespace neve
