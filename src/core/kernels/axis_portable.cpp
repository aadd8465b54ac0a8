// SPDX-License-Identifier: BSD-3-Clause
// The reference of axis_kernels.hpp in plain C++; the SIMD ones call it for the ends of rows.
#include "core/kernels/axis_kernels.hpp"
#include "core/kernels/interpolation_rows.hpp"
#include "core/kernels/portable.hpp"

namespace neve {

namespace {

template <class T>
void code(T* values, const AxisSource<T>& from, const ResidualQuantizer<T>& q, size_t n, int32_t* quant_codes,
          AxisStats<T>& stats) {
  for (size_t i = 0; i < n; ++i) {
    const T prediction = predict_one(from, i);
    const T value = values[i];
    rows::quantize(values + i, &prediction, q, 1, quant_codes + i);
    const T difference = value - values[i];
    const T error = difference < 0 ? -difference : difference;
    if (quant_codes[i] == rejected_quant_code) {
      ++stats.rejected;
    } else if (error > stats.worst[0]) {
      stats.worst[0] = error;
    }
  }
}

template <class T>
size_t restore(const uint8_t* symbols, const AxisSource<T>& from, T step, size_t n, T* values) {
  size_t escapes = 0;
  for (size_t i = 0; i < n; ++i) {
    escapes += symbols[i] == symbol_escape ? 1 : 0;
    values[i] = predict_one(from, i) + static_cast<T>(int32_t{symbols[i]} - symbol_zero) * step;
  }
  return escapes;
}

template <class T>
bool has_special(const T* row, size_t n, bool has_fill, T fill) {
  bool found = false;
  for (size_t i = 0; i < n; ++i) found |= portable::is_special(row[i], has_fill, portable::bits(fill));
  return found;
}

template <class T>
void split(const T* row, size_t n, T* even, T* odd) {
  for (size_t i = 0; i < n / 2; ++i) {
    even[i] = row[2 * i];
    odd[i] = row[2 * i + 1];
  }
  if (n % 2 != 0) even[n / 2] = row[n - 1];
}

template <class T>
void join(const T* even, const T* odd, size_t n, T* row) {
  for (size_t i = 0; i < n / 2; ++i) {
    row[2 * i] = even[i];
    row[2 * i + 1] = odd[i];
  }
  if (n % 2 != 0) row[n - 1] = even[n / 2];
}

template <class T>
constexpr AxisKernels<T> table{code<T>, restore<T>, has_special<T>, split<T>, join<T>};

}  // namespace

const AxisKernels<float>& portable_axis_kernels(float) { return table<float>; }
const AxisKernels<double>& portable_axis_kernels(double) { return table<double>; }

}  // namespace neve
