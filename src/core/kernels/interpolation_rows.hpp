// SPDX-License-Identifier: BSD-3-Clause
// The row loops of interpolation prediction, written once as plain loops and compiled for each instruction
// set: no element depends on another, every operation is one IEEE operation in T, and contraction is off, so
// all targets give the same bits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>

#include "core/kernels/kernels.hpp"

#define NEVE_ROW_LOOP inline __attribute__((always_inline)) void

namespace neve::rows {

// Rounds to nearest even by letting the addition drop the fraction; |scaled| stays below 2^21.
template <class T>
inline constexpr T round_magic = sizeof(T) == 4 ? T{0x1.8p23} : T{0x1.8p52};

template <class T>
NEVE_ROW_LOOP axis(const T* a, const T* b, const T* c, const T* d, const T* weights, size_t n, T* out) {
  const T wa = weights[0];
  const T wb = weights[1];
  const T wc = weights[2];
  const T wd = weights[3];
  for (size_t i = 0; i < n; ++i) out[i] = ((wa * a[i] + wb * b[i]) + wc * c[i]) + wd * d[i];
}

// Four taps a pass, in their order: the sum stays in registers.
template <class T>
NEVE_ROW_LOOP add_taps(const T* const* taps, const T* weights, size_t count, const T* base, size_t n,
                       T* sum) {
  size_t t = 0;
  for (; t + 4 <= count; t += 4) {
    const T* a = taps[t];
    const T* b = taps[t + 1];
    const T* c = taps[t + 2];
    const T* d = taps[t + 3];
    const T wa = weights[t];
    const T wb = weights[t + 1];
    const T wc = weights[t + 2];
    const T wd = weights[t + 3];
    for (size_t i = 0; i < n; ++i) {
      const T near = (sum[i] + wa * (a[i] - base[i])) + wb * (b[i] - base[i]);
      sum[i] = (near + wc * (c[i] - base[i])) + wd * (d[i] - base[i]);
    }
  }
  for (; t < count; ++t) {
    const T* a = taps[t];
    const T wa = weights[t];
    for (size_t i = 0; i < n; ++i) sum[i] = sum[i] + wa * (a[i] - base[i]);
  }
}

template <class T>
NEVE_ROW_LOOP estimate(const T* above, const T* here, const T* below, T scale, size_t n, T* out) {
  // Signed, since the first neighbour has index -1.
  for (ptrdiff_t i = 0; i < static_cast<ptrdiff_t>(n); ++i) {
    const T near = (above[i - 1] + above[i + 1]) + (here[i - 1] + here[i + 1]);
    out[i] = ((near + below[i]) + T{2} * (above[i] + here[i])) * scale;
  }
}

template <class T>
inline __attribute__((always_inline)) T fourth_power(T estimate) {
  const T floored = estimate + static_cast<T>(blend_floor);
  const T square = floored * floored;
  return square * square;
}

template <class T>
NEVE_ROW_LOOP blend2(const T* const* p, const T* const* e, size_t n, T* out) {
  const T* p0 = p[0];
  const T* p1 = p[1];
  const T* e0 = e[0];
  const T* e1 = e[1];
  for (size_t i = 0; i < n; ++i) {
    const T v0 = fourth_power(e0[i]);
    const T v1 = fourth_power(e1[i]);
    out[i] = p0[i] + (p1[i] - p0[i]) * (v0 / (v0 + v1));
  }
}

template <class T>
NEVE_ROW_LOOP blend3(const T* const* p, const T* const* e, size_t n, T* out) {
  const T* p0 = p[0];
  const T* p1 = p[1];
  const T* p2 = p[2];
  const T* e0 = e[0];
  const T* e1 = e[1];
  const T* e2 = e[2];
  for (size_t i = 0; i < n; ++i) {
    const T v0 = fourth_power(e0[i]);
    const T v1 = fourth_power(e1[i]);
    const T v2 = fourth_power(e2[i]);
    const T w0 = v1 * v2;
    const T w1 = v0 * v2;
    const T w2 = v0 * v1;
    out[i] = p0[i] + ((p1[i] - p0[i]) * w1 + (p2[i] - p0[i]) * w2) / ((w0 + w1) + w2);
  }
}

template <class T>
NEVE_ROW_LOOP blend4(const T* const* p, const T* const* e, size_t n, T* out) {
  const T* p0 = p[0];
  const T* p1 = p[1];
  const T* p2 = p[2];
  const T* p3 = p[3];
  const T* e0 = e[0];
  const T* e1 = e[1];
  const T* e2 = e[2];
  const T* e3 = e[3];
  for (size_t i = 0; i < n; ++i) {
    const T v0 = fourth_power(e0[i]);
    const T v1 = fourth_power(e1[i]);
    const T v2 = fourth_power(e2[i]);
    const T v3 = fourth_power(e3[i]);
    const T v01 = v0 * v1;
    const T v23 = v2 * v3;
    const T w0 = v1 * v23;
    const T w1 = v0 * v23;
    const T w2 = v01 * v3;
    const T w3 = v01 * v2;
    const T sum = ((p1[i] - p0[i]) * w1 + (p2[i] - p0[i]) * w2) + (p3[i] - p0[i]) * w3;
    out[i] = p0[i] + sum / ((w0 + w1) + (w2 + w3));
  }
}

template <class T>
NEVE_ROW_LOOP blend(const T* const* predictions, const T* const* estimates, int experts, size_t n, T* out) {
  if (experts == 2) {
    blend2(predictions, estimates, n, out);
  } else if (experts == 3) {
    blend3(predictions, estimates, n, out);
  } else {
    blend4(predictions, estimates, n, out);
  }
}

template <class T>
NEVE_ROW_LOOP quantize(T* values, const T* prediction, const ResidualQuantizer<T>& q, size_t n,
                       int32_t* quant_codes) {
  const T step = q.step;
  const T inverse_step = q.inverse_step;
  const T tolerance = q.tolerance;
  constexpr T limit = static_cast<T>(residual_limit);
  for (size_t i = 0; i < n; ++i) {
    T scaled = (values[i] - prediction[i]) * inverse_step;
    // Also what a NaN becomes: cells that are not coded may hold anything.
    scaled = scaled < limit ? scaled : limit;
    scaled = scaled > -limit ? scaled : -limit;
    const T rounded = (scaled + round_magic<T>)-round_magic<T>;
    const T decoded = prediction[i] + rounded * step;
    const T difference = values[i] - decoded;
    const T error = difference < 0 ? -difference : difference;
    const T magnitude = rounded < 0 ? -rounded : rounded;
    // One condition, so that the loop has no branch: a magnitude at the limit counts as any error.
    const T judged = magnitude < limit ? error : std::numeric_limits<T>::infinity();
    values[i] = judged <= tolerance ? decoded : values[i];
    quant_codes[i] = judged <= tolerance ? static_cast<int32_t>(rounded) : rejected_quant_code;
  }
}

template <class T>
NEVE_ROW_LOOP reconstruct(const int32_t* quant_codes, const T* prediction, T step, size_t n, T* values) {
  for (size_t i = 0; i < n; ++i) values[i] = prediction[i] + static_cast<T>(quant_codes[i]) * step;
}

template <class T>
NEVE_ROW_LOOP errors(const T* values, const T* prediction, T inverse_step, size_t n, T* out) {
  constexpr T cap = static_cast<T>(error_cap);
  for (size_t i = 0; i < n; ++i) {
    const T difference = (values[i] - prediction[i]) * inverse_step;
    const T error = difference < 0 ? -difference : difference;
    out[i] = error < cap ? error : cap;  // also for NaN
  }
}

NEVE_ROW_LOOP add_magnitudes(const uint8_t* magnitudes, unsigned weight, size_t n, uint16_t* sum) {
  for (size_t i = 0; i < n; ++i) sum[i] = static_cast<uint16_t>(sum[i] + weight * magnitudes[i]);
}

}  // namespace neve::rows
