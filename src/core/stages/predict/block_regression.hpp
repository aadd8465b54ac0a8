// SPDX-License-Identifier: BSD-3-Clause
// Linear regression over a prediction block: value = mean + sum of slope * distance from the block's middle
// (Liang et al., "Error-controlled lossy compression optimized for high compression ratios", 2018, with the
// middle instead of a corner as origin, so that coefficients do not depend on each other).
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <optional>

#include "core/math/portable_math.hpp"
#include "neve/frame.hpp"

namespace neve {

// Coefficients as integers, in used directions, fastest first.
struct RegressionCode {
  int32_t mean = 0;
  std::array<int32_t, max_frame_dims> slope{};
};

struct RegressionPlane {
  double mean = 0;
  std::array<double, max_frame_dims> slope{};
};

// Values between neighbouring integers of a coefficient. As in SZ3, all coefficients together may move a
// prediction by about half a bound.
struct RegressionSteps {
  double mean = 0;
  double slope = 0;

  RegressionSteps(double step, int dims, int64_t side)
      : mean(step / (dims + 1)), slope(step / static_cast<double>((dims + 1) * side)) {}
};

// Distance of cell x from the middle of a block of n, exact.
inline double from_middle(int64_t x, int64_t n) { return static_cast<double>(2 * x - (n - 1)) * 0.5; }

inline RegressionPlane regression_plane(const RegressionCode& code, const RegressionSteps& steps,
                                        double center) {
  RegressionPlane plane;
  plane.mean = center + code.mean * steps.mean;
  for (size_t d = 0; d < max_frame_dims; ++d) plane.slope[d] = code.slope[d] * steps.slope;
  return plane;
}

// The prediction along a row is first + slope[0] * from_middle(x).
inline double regression_row(const RegressionPlane& plane, const Extents& size, int64_t y, int64_t z,
                             int64_t w) {
  double first = plane.mean + plane.slope[3] * from_middle(w, size[3]);
  first += plane.slope[2] * from_middle(z, size[2]);
  return first + plane.slope[1] * from_middle(y, size[1]);
}

// Least squares over a block whose cells lie in `values` with `stride`; nothing where a coefficient does not
// fit its integer.
inline std::optional<RegressionCode> fit_regression(const double* values,
                                                    const std::array<ptrdiff_t, max_frame_dims>& stride,
                                                    const Extents& size, const RegressionSteps& steps,
                                                    double center) {
  constexpr double code_limit = 1 << 28;
  double sum = 0;
  std::array<double, max_frame_dims> moment{};
  for (int64_t w = 0; w < size[3]; ++w) {
    for (int64_t z = 0; z < size[2]; ++z) {
      double layer = 0;
      for (int64_t y = 0; y < size[1]; ++y) {
        const double* row = values + y * stride[1] + z * stride[2] + w * stride[3];
        double row_sum = 0;
        double row_moment = 0;
        double at = from_middle(0, size[0]);
        for (int64_t x = 0; x < size[0]; ++x, at += 1) {
          row_sum += row[x];
          row_moment += row[x] * at;
        }
        layer += row_sum;
        moment[0] += row_moment;
        moment[1] += row_sum * from_middle(y, size[1]);
      }
      sum += layer;
      moment[2] += layer * from_middle(z, size[2]);
      moment[3] += layer * from_middle(w, size[3]);
    }
  }
  const auto cells = static_cast<double>(size[0] * size[1] * size[2] * size[3]);
  RegressionCode code;
  const double mean = (sum / cells - center) / steps.mean;
  if (!(std::abs(mean) < code_limit)) return {};
  code.mean = static_cast<int32_t>(math::round_even(mean));
  for (size_t d = 0; d < max_frame_dims; ++d) {
    if (size[d] == 1) continue;
    const auto n = static_cast<double>(size[d]);
    const double slope = moment[d] * 12 / (cells * (n * n - 1)) / steps.slope;
    if (!(std::abs(slope) < code_limit)) return {};
    code.slope[d] = static_cast<int32_t>(math::round_even(slope));
  }
  return code;
}

}  // namespace neve
