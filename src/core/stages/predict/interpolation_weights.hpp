// SPDX-License-Identifier: BSD-3-Clause
// The weights of interpolation between every other cell of a line: cubic in its middle, one-sided near its
// ends (Zhao et al., "Optimizing error-bounded lossy compression ... by dynamic spline interpolation", ICDE
// 2021, their equations for linear and cubic splines).
#pragma once

#include <array>
#include <cstdint>

namespace neve {

// Of the cells -3, -1, 1 and 3 spacings away. `at` is the number, among the cells that are known, of the one
// at -1; `size` says how many those are.
template <class T>
const std::array<T, 4>& interpolation_weights(int64_t at, int64_t size, bool linear) {
  using Weights = std::array<T, 4>;
  static const Weights copy = {T{0}, T{1}, T{0}, T{0}};
  static const Weights extrapolate = {T{-0.5}, T{1.5}, T{0}, T{0}};
  static const Weights straight = {T{0}, T{0.5}, T{0.5}, T{0}};
  static const Weights left = {T{-0.125}, T{0.75}, T{0.375}, T{0}};
  static const Weights right = {T{0}, T{0.375}, T{0.75}, T{-0.125}};
  static const Weights cubic = {T{-0.0625}, T{0.5625}, T{0.5625}, T{-0.0625}};
  const bool has_left = at > 0;
  if (at + 1 >= size) return has_left ? extrapolate : copy;
  const bool has_right = at + 2 < size;
  if (linear || (!has_left && !has_right)) return straight;
  if (!has_left) return right;
  return has_right ? cubic : left;
}

}  // namespace neve
