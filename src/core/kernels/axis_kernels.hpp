// SPDX-License-Identifier: BSD-3-Clause
// The row loops of codec axis_passes: prediction along one axis, quantization and its inverse in one loop
// each, and rows as halves of even and odd cells.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "core/kernels/kernels.hpp"

namespace neve {

// What cells are predicted from: ((w0 * a + w1 * b) + w2 * c) + w3 * d.
template <class T>
struct AxisSource {
  const T* a = nullptr;
  const T* b = nullptr;
  const T* c = nullptr;
  const T* d = nullptr;
  std::array<T, 4> weights{};  // of all cells, or
  // cell by cell, where not null; read up to row_padding past the end. What has weight 0 may be anything.
  std::array<const T*, 4> of_each{};
};

// The source of the cells from number i on.
template <class T>
AxisSource<T> source_from(const AxisSource<T>& from, size_t i) {
  AxisSource<T> rest = from;
  for (const T** cells : {&rest.a, &rest.b, &rest.c, &rest.d}) *cells += i;
  for (const T*& weights : rest.of_each) weights = weights == nullptr ? nullptr : weights + i;
  return rest;
}

template <class T>
T predict_one(const AxisSource<T>& from, size_t i) {
  const std::array<const T*, 4> values{from.a + i, from.b + i, from.c + i, from.d + i};
  const auto part = [&](size_t k) {
    if (from.of_each[k] == nullptr) return from.weights[k] * *values[k];
    const T weight = from.of_each[k][i];
    return weight == T{0} ? T{0} : weight * *values[k];
  };
  return ((part(0) + part(1)) + part(2)) + part(3);
}

template <class T>
struct AxisStats {
  // Largest errors of the values that have a quantization code, lane by lane.
  alignas(64) std::array<T, 8> worst{};
  size_t rejected = 0;  // the others

  T max_error() const { return *std::max_element(worst.begin(), worst.end()); }
};

// Rows may be read, and written as they were, up to row_padding elements past their end; symbols read.
template <class T>
struct AxisKernels {
  // quant_codes = nearest_even((value - prediction) / step), and the value becomes what it decodes to;
  // or rejected_quant_code, and the value stays, where that breaks the tolerance or residual_limit.
  void (*code)(T* values, const AxisSource<T>&, const ResidualQuantizer<T>&, size_t, int32_t* quant_codes,
               AxisStats<T>&);
  // value = prediction + (symbol - symbol_zero) * step. Returns how many symbols are symbol_escape; what
  // theirs is means nothing.
  size_t (*restore)(const uint8_t* symbols, const AxisSource<T>&, T step, size_t, T* values);
  // Whether portable::is_special is true of any value.
  bool (*has_special)(const T* row, size_t n, bool has_fill, T fill);
  // The cells of a row of n from 0 on in steps of two, and those from 1 on.
  void (*split)(const T* row, size_t n, T* even, T* odd);
  void (*join)(const T* even, const T* odd, size_t n, T* row);
};

const AxisKernels<float>& portable_axis_kernels(float);
const AxisKernels<double>& portable_axis_kernels(double);

inline const AxisKernels<float>& axis_kernels(float) { return *kernels().axis_f32; }
inline const AxisKernels<double>& axis_kernels(double) { return *kernels().axis_f64; }

}  // namespace neve
