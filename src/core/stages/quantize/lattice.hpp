// SPDX-License-Identifier: BSD-3-Clause
// Grids that do not depend on the data, so that encoding can be repeated (Lattice, neve/frame.hpp).
//
// A decoded value is the whole number k times the step, rounded once to T. The step has few leading bits, so
// that the product of step and quantization code is exact, and so is a whole multiple of the step as the
// centre: (k - K) * step + K * step is k * step rounded once, whatever K. Quantizing a decoded value gives k
// again as long as the rounding of the value, of 1 / step and of their product come to less than a half: in
// f32 each is at most 2^-24 of k, together 3/8 below lattice_limit. In f64 nothing is rounded at all.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "core/math/portable_math.hpp"
#include "neve/frame.hpp"

namespace neve {

inline constexpr int lattice_step_bits = 8;

// |k| stays below.
template <class T>
inline constexpr int64_t lattice_limit = int64_t{1} << (sizeof(T) == 4 ? 21 : 53 - lattice_step_bits);

// Products of the step with whole numbers below this are exact.
template <class T>
inline constexpr int64_t exact_multiples = int64_t{1} << (std::numeric_limits<T>::digits - lattice_step_bits);

// `most`, positive, rounded towards zero to the bits of a lattice's step. `is_round`: to fewer of them where
// that costs at most 1/64 of the step; the fewer, the larger the values whose decoded form needs no rounding.
template <class T>
T lattice_step(T most, bool is_round) {
  constexpr int64_t window = 64;
  const auto [mantissa, exponent] = math::split(most);
  auto whole = static_cast<int64_t>(math::floor(math::ldexp(mantissa, lattice_step_bits)));
  const int64_t least = is_round ? whole - whole / window : whole;
  for (int64_t unit = 2; whole / unit * unit >= least && unit <= whole; unit *= 2)
    whole = whole / unit * unit;
  return math::ldexp(static_cast<T>(whole), exponent - lattice_step_bits);
}

// What rounding decoded values to T may take of the bound, for the largest value to come.
template <class T>
double lattice_rounding(const ValueRange& range, T bound) {
  if (sizeof(T) == 8 || range.empty) return 0;
  const double largest = std::max(std::abs(range.min), std::abs(range.max));
  const double exact_below = static_cast<double>(bound) * static_cast<double>(exact_multiples<T>);
  return largest < exact_below ? 0 : std::min(0x1p-24 * largest, static_cast<double>(bound) / 2);
}

// The multiple of the step that quantization codes count from, 0 unless all of them are exact around it.
// `range`: of the values that are encoded together.
template <class T>
T lattice_center(const ValueRange& range, T step) {
  if (range.empty) return 0;
  const double middle = range.min / 2 + range.max / 2;
  if (!(std::abs(middle) > range.width())) return 0;
  const double multiple = math::round_even(middle / static_cast<double>(step));
  if (!(std::abs(multiple) < static_cast<double>(lattice_limit<T>))) return 0;
  double unit = 1;
  while (std::abs(multiple) >= unit * static_cast<double>(exact_multiples<T>)) unit *= 2;
  const double farthest = range.width() / 2 / static_cast<double>(step) + 2 * unit;
  if (!(farthest < static_cast<double>(exact_multiples<T>))) return 0;
  return static_cast<T>(math::round_even(multiple / unit) * unit * static_cast<double>(step)) + T{0};
}

}  // namespace neve
