// SPDX-License-Identifier: BSD-3-Clause
// The engine's loop for a fixed ratio, in its integers: rtl/ratio_control.sv.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "core/engine/engine_stream.hpp"
#include "core/math/portable_math.hpp"

namespace neve::engine {

class RatioControl {
 public:
  RatioControl(uint32_t target, uint32_t shift, uint32_t rungs, uint32_t first)
      : target_(target), shift_(shift), last_rung_(static_cast<int64_t>(rungs) - 1), rung_(first) {}

  uint32_t next_rung() {
    const size_t round = asked_++;
    if (round < 2) return static_cast<uint32_t>(rung_);
    const int64_t miss = int64_t{bits_[round - 2]} - target_;
    missed_ += miss;
    const int64_t half = shift_ == 0 ? 0 : int64_t{1} << (shift_ - 1);
    const int64_t moves =
        std::clamp<int64_t>((miss + (missed_ >> 2) + half) >> shift_, -max_moves, max_moves);
    if (round - 2 >= rung_since_ && rung_ + moves != rung_) {
      rung_since_ = round;
      rung_ = std::clamp<int64_t>(rung_ + moves, 0, last_rung_);
    }
    return static_cast<uint32_t>(rung_);
  }
  void measured(uint32_t bits) { bits_.push_back(bits); }

 private:
  static constexpr int64_t max_moves = 32;
  int64_t target_;
  uint32_t shift_;
  int64_t last_rung_;
  int64_t rung_;
  int64_t missed_ = 0;
  size_t asked_ = 0;
  size_t rung_since_ = 0;
  std::vector<uint32_t> bits_;
};

// Bits of a round that the ratio leaves, and its values' logarithm for the loop.
struct RatioSettings {
  uint32_t target = 0;
  uint32_t shift = 0;
};
inline RatioSettings ratio_settings(const EngineBuild& build, const EngineOptions& o) {
  const double values = static_cast<double>(build.lanes) * o.block_values;
  const double bits = 32 * values / o.ratio.value_or(1) - 8.0 * stream::block_header_bytes * build.lanes;
  RatioSettings s;
  s.target = static_cast<uint32_t>(std::max(1.0, bits));
  // Eight rungs to a bit of every value.
  s.shift = static_cast<uint32_t>(std::max(0.0, math::round_even(math::log2(values / 8))));
  return s;
}

}  // namespace neve::engine
