// SPDX-License-Identifier: BSD-3-Clause
// Which bound meets a target, when only trying tells: a quantity that falls as the bound grows (bits a value,
// PSNR) and falls by about `per_octave` when the bound doubles (CEAZ, equation 2: one bit a value).
#pragma once

#include <algorithm>
#include <cmath>

#include "core/math/portable_math.hpp"

namespace neve {

class BoundSearch {
 public:
  BoundSearch(double bound, double target, double per_octave)
      : at_(math::log2(bound)), target_(target), per_octave_(per_octave) {}

  double bound() const { return math::exp2(std::clamp(at_, -1000.0, 1000.0)); }

  // What the quantity was under bound(), which moves on to the next one to try.
  void tell(double measured) {
    const bool is_above = measured > target_;
    const bool is_same_side = above_.is_known && below_.is_known && is_above == was_above_;
    was_above_ = is_above;
    Point& side = is_above ? above_ : below_;
    side = {at_, measured, true};
    if (above_.is_known && below_.is_known) {
      // Between the two, where a line through them meets the target, but not at either end again. In the
      // middle where a line has just led to the same side, or there is a cliff between them, of which it
      // knows nothing.
      const double width = below_.at - above_.at;
      const bool is_cliff = above_.measured > cliff * target_;
      const double share =
          is_same_side || is_cliff ? 0.5 : (above_.measured - target_) / (above_.measured - below_.measured);
      at_ = above_.at + width * std::clamp(share, min_share, 1 - min_share);
      return;
    }
    // As the formula says, and farther each time it did not get there.
    const double step = (measured - target_) / per_octave_ * reach_;
    at_ += std::copysign(std::clamp(std::abs(step), min_step, max_step), step);
    reach_ *= 2;
  }

 private:
  struct Point {
    double at = 0;
    double measured = 0;
    bool is_known = false;
  };
  static constexpr double min_share = 0.03;
  static constexpr double min_step = 0.02;
  static constexpr double max_step = 16;
  static constexpr double cliff = 4;

  double at_;  // log2 of the bound
  double target_;
  double per_octave_;
  double reach_ = 1;
  bool was_above_ = false;
  Point above_;  // quantity above the target: bound too small
  Point below_;
};

}  // namespace neve
