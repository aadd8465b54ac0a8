// SPDX-License-Identifier: BSD-3-Clause
// What every kernel does to one element. The only definition of the quantizer's arithmetic in scalar
// form; the vector forms repeat it operation by operation, in the same type, so that bits agree.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "core/kernels/kernels.hpp"
#include "core/math/portable_math.hpp"

namespace neve::portable {

template <class T>
using BitsOf = std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>;

template <class T>
BitsOf<T> bits(T value) {
  return std::bit_cast<BitsOf<T>>(value);
}

template <class T>
bool is_negative_zero(T value) {
  return bits(value) == BitsOf<T>{1} << (8 * sizeof(T) - 1);
}

// NaN, infinite, -0 or the fill value; without branches, so that loops over it become vectors.
template <class T>
bool is_special(T value, bool has_fill, BitsOf<T> fill) {
  constexpr BitsOf<T> infinity_twice = std::bit_cast<BitsOf<T>>(std::numeric_limits<T>::infinity()) << 1;
  const BitsOf<T> value_bits = bits(value);
  const BitsOf<T> magnitude_twice = value_bits << 1;  // 0 for -0 and 0: one less is above everything finite
  const bool not_finite = magnitude_twice - 1 >= infinity_twice - 1;
  return (not_finite & (value_bits != 0)) | (has_fill & (value_bits == fill));
}

// Dual quantization's first step (CEAZ, section 3.1): the value becomes an integer before prediction, so
// prediction is exact integer arithmetic and the decoder's value depends on nothing else.
template <class T>
int32_t quantize_one(T value, const Quantizer<T>& q, QuantizeStats<T>& stats) {
  const T scaled = (value - q.center) * q.inverse_step;
  const bool fits = std::abs(scaled) < static_cast<T>(quant_code_limit);  // false for NaN
  const int32_t quant_code = fits ? static_cast<int32_t>(math::round_even(scaled)) : 0;
  const T error = std::abs(value - (static_cast<T>(quant_code) * q.step + q.center));
  const bool special = is_negative_zero(value) || (q.has_fill && bits(value) == bits(q.fill));
  if (!fits || special || !(error <= q.tolerance)) {
    ++stats.rejected;
    return rejected_quant_code;
  }
  if (error > stats.max_error) stats.max_error = error;
  return quant_code - q.origin;
}

template <class T>
T dequantize_one(int32_t quant_code, int32_t origin, T center, T step) {
  // Modulo 2^32: a damaged section or stream may hold any quantization code.
  const auto whole = static_cast<int32_t>(static_cast<uint32_t>(quant_code) + static_cast<uint32_t>(origin));
  return static_cast<T>(whole) * step + center;
}

inline uint32_t neighbour_sum(const NeighbourRows& around, ptrdiff_t i) {
  // Subsets of {y, z, w} in order y, z, yz, w, yw, zw, yzw; odd ones count +, even ones -.
  constexpr bool minus[7] = {false, false, true, false, true, true, false};
  uint32_t sum = 0;
  for (int r = 0; r < around.count; ++r) {
    const auto value = static_cast<uint32_t>(around.rows[r][i]);
    sum = minus[r] ? sum - value : sum + value;
  }
  return sum;
}

template <class T>
void extend_range(T value, bool has_fill, T fill, T& lo, T& hi) {
  if (!std::isfinite(value) || (has_fill && bits(value) == bits(fill))) return;
  if (value < lo) lo = value;
  if (value > hi) hi = value;
}

}  // namespace neve::portable
