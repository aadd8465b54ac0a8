// SPDX-License-Identifier: BSD-3-Clause
// How many bits a residual will take, from its mean magnitude: what predictors are chosen by.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>

#include "core/math/portable_math.hpp"

namespace neve {

// Entropy of a Laplace-distributed residual of this mean magnitude, rounded to integers. Interpolated, with
// arithmetic that every machine does alike.
inline double residual_bits(double mean_magnitude) {
  constexpr double per_unit = 8;
  constexpr std::array<double, 17> entropy{0,     0.150, 0.725, 1.199, 1.560, 1.850, 2.093, 2.301, 2.484,
                                           2.647, 2.793, 2.926, 3.048, 3.161, 3.266, 3.364, 3.455};
  constexpr double end = static_cast<double>(entropy.size() - 1) / per_unit;
  if (mean_magnitude < end) {
    const double at = mean_magnitude * per_unit;
    const auto i = static_cast<size_t>(at);
    return entropy[i] + (entropy[i + 1] - entropy[i]) * (at - static_cast<double>(i));
  }
  // A bit for each doubling.
  const auto [mantissa, doublings] = math::split(mean_magnitude / end);
  return entropy.back() + (doublings - 1) + (2 * mantissa - 1);
}

}  // namespace neve
