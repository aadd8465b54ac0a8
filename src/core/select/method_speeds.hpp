// SPDX-License-Identifier: BSD-3-Clause
// How fast lossless methods are: as is typical, or as they were in this process.
#pragma once

#include <array>
#include <cstdint>

#include "core/catalog/lossless_methods.hpp"
#include "neve/choice.hpp"
#include "neve/types.hpp"

namespace neve {

// In 100 MB/s.
class MethodSpeeds {
 public:
  explicit MethodSpeeds(Speeds kind = Speeds::typical) : kind_(kind) {}

  // Of a method that has not coded yet: what is typical, as many times as the others are faster than that.
  double of(LosslessMethod method) const {
    const double typical = traits_of(method).typical_speed;
    const double own = static_cast<size_t>(method) < own_.size() ? own_[static_cast<size_t>(method)] : 0;
    if (kind_ == Speeds::typical) return typical;
    return own > 0 ? own : typical * machine();
  }

  // `bytes` of values were coded in so many nanoseconds of CPU time.
  void add(LosslessMethod method, uint64_t bytes, uint64_t ns) {
    if (ns == 0 || static_cast<size_t>(method) >= own_.size()) return;
    const double here = 10 * static_cast<double>(bytes) / static_cast<double>(ns);
    double& own = own_[static_cast<size_t>(method)];
    constexpr double newest_share = 0.3;
    own = own > 0 ? own + newest_share * (here - own) : here;
  }

  double score(LosslessMethod method, double raw_bytes, double bytes, const CodecTuning& tuning) const {
    return tuning.speed_weight * of(method) + tuning.ratio_weight * raw_bytes / (bytes < 1 ? 1 : bytes);
  }

 private:
  double machine() const {
    double sum = 0, count = 0;
    for (size_t m = 1; m < own_.size(); ++m) {
      if (own_[m] <= 0) continue;
      sum += own_[m] / traits_of(static_cast<LosslessMethod>(m)).typical_speed;
      ++count;
    }
    return count > 0 ? sum / count : 1;
  }

  Speeds kind_;
  std::array<double, lossless_methods> own_{};  // 0: not known
};

}  // namespace neve
