// SPDX-License-Identifier: BSD-3-Clause
// What Neve computes beyond + - * / and the square root, from these alone, so that every machine gets the
// same bits: libm's logarithms differ in their last bit between versions and processors, and choices between
// codecs, and so bytes, hang on them. Nor does a program's other library decide what we compute, as any
// symbol that a plugin imports can be taken by the program it is loaded into.
//
// Largest errors that were measured, in units in the last place: log2 3.7, log 3.9, log10 4.4, exp2 1.2.
// power_of_10 rounds its exponent, and errs by up to 667 of them near 10^-305. sin and cos have an absolute
// error, that of the reduced angle: 1e-13 for angles up to a thousand, 2e-10 near a million. Near their zeros
// the relative error is therefore as large as can be.
//
// Arguments are finite. Those of log2, log and log10 are positive, and unlike libm's these functions do not
// say so: log2 gives -7.4 for 0, 1024 for infinity, 1024.6 for NaN, any number or NaN for negative ones.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace neve::math {

template <class T>
using BitsOf = std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>;

// The nearest whole number, the even one of two as near; the sign of 0 stays. As nearbyint in the default
// rounding mode: beyond 2^(digits - 1) every value is whole.
template <class T>
T round_even(T x) {
  constexpr T magic = T{1} / std::numeric_limits<T>::epsilon();
  if (!(std::abs(x) < magic)) return x;
  const T shift = std::copysign(magic, x);
  return std::copysign((x + shift) - shift, x);
}

inline double floor(double x) {
  const double nearest = round_even(x);
  return nearest > x ? nearest - 1 : nearest;
}

inline double trunc(double x) { return x < 0 ? -floor(-x) : floor(x); }

// x * 2^n, rounded once.
template <class T>
T ldexp(T x, int n) {
  using Bits = BitsOf<T>;
  constexpr int digits = std::numeric_limits<T>::digits, bias = std::numeric_limits<T>::max_exponent - 1;
  const auto power = [](int e) { return std::bit_cast<T>(static_cast<Bits>(e + bias) << (digits - 1)); };
  // Two steps are enough from the smallest denormal to the largest value. Below, all but the last keep to
  // normal numbers, so that only the last rounds.
  constexpr int up = bias, down = -bias + digits;
  for (int i = 0; i < 2 && n > up; ++i) x *= power(up), n -= up;
  for (int i = 0; i < 2 && n < 1 - bias; ++i) x *= power(down), n -= down;
  if (n > up) n = up;
  if (n < 1 - bias) n = 1 - bias;
  return x * power(n);
}

template <class T>
struct Split {
  T mantissa = 0;  // 0, or its magnitude in [0.5, 1)
  int exponent = 0;
};

// x = mantissa * 2^exponent.
template <class T>
Split<T> split(T x) {
  using Bits = BitsOf<T>;
  constexpr int digits = std::numeric_limits<T>::digits, bias = std::numeric_limits<T>::max_exponent - 1;
  constexpr Bits exponent_mask = ((Bits{1} << (sizeof(T) * 8 - digits)) - 1) << (digits - 1);
  if (x == 0) return {x, 0};
  int exponent = 0;
  if (std::abs(x) < std::numeric_limits<T>::min()) {
    x *= T{1} / std::numeric_limits<T>::epsilon();
    exponent = 1 - digits;
  }
  const Bits bits = std::bit_cast<Bits>(x);
  exponent += static_cast<int>((bits & exponent_mask) >> (digits - 1)) - (bias - 1);
  const Bits half = static_cast<Bits>(bias - 1) << (digits - 1);
  return {std::bit_cast<T>(static_cast<Bits>((bits & ~exponent_mask) | half)), exponent};
}

// The next value towards 0, of a value that is not 0.
template <class T>
T next_towards_zero(T x) {
  return std::bit_cast<T>(static_cast<BitsOf<T>>(std::bit_cast<BitsOf<T>>(x) - 1));
}

// Of a positive x. log2(m 2^e) = e + 2 / ln 2 artanh(s), s = (m - 1) / (m + 1), m in [sqrt(1/2), sqrt(2));
// the series of artanh, s + s^3 / 3 + s^5 / 5 + ..., has |s| < 0.172.
inline double log2(double x) {
  constexpr double sqrt_half = 0.70710678118654752440, two_by_ln2 = 2.88539008177792681472;
  constexpr int last_term = 23;
  auto [m, exponent] = split(x);
  if (m < sqrt_half) m *= 2, --exponent;
  const double s = (m - 1) / (m + 1);
  double sum = 0;
  for (int k = last_term; k >= 1; k -= 2) sum = sum * s * s + 1.0 / k;
  return exponent + two_by_ln2 * (s * sum);
}

inline double log(double x) { return log2(x) * 0.69314718055994530942; }
inline double log10(double x) { return log2(x) * 0.30102999566398119521; }

// 2^x = 2^n e^(f ln 2), |f| <= 1/2, by the series of e^y with |y| < 0.347.
inline double exp2(double x) {
  constexpr double ln2 = 0.69314718055994530942, most = 2000;
  constexpr int last_term = 14;
  if (x > most) return std::numeric_limits<double>::infinity();
  if (x < -most) return 0;
  const double n = round_even(x);
  const double y = (x - n) * ln2;
  double sum = 1;
  for (int k = last_term; k >= 1; --k) sum = 1 + sum * y / k;
  return ldexp(sum, static_cast<int>(n));
}

inline double power_of_10(double x) { return exp2(x * 3.32192809488736234787); }

// Of angles of up to a million: x - x^3 / 3! + ..., |x| <= pi / 2 after a whole number of half turns.
inline double sin(double x) {
  constexpr double pi = 3.14159265358979323846;
  constexpr int last_term = 23;
  const double half_turns = round_even(x / pi);
  const double y = x - half_turns * pi;
  double sum = 1;
  for (int k = last_term; k >= 3; k -= 2) sum = 1 - sum * y * y / (k * (k - 1));
  return static_cast<int64_t>(half_turns) % 2 == 0 ? y * sum : -(y * sum);
}

inline double cos(double x) { return sin(x + 1.57079632679489661923); }

}  // namespace neve::math
