// SPDX-License-Identifier: BSD-3-Clause
// The reference kernels in plain C++. The SIMD ones call the element functions of portable.hpp for
// the ends of rows.
#include "core/kernels/portable.hpp"
#include "core/kernels/axis_kernels.hpp"
#include "core/kernels/interpolation_rows.hpp"

#include "core/kernels/kernels.hpp"
#include "core/kernels/row_kernels.hpp"
#include "core/kernels/stream_kernels.hpp"
#include "core/kernels/word_rows.hpp"

namespace neve {

namespace {

template <class T>
void quantize(const T* values, size_t n, const Quantizer<T>& q, int32_t* quant_codes,
              QuantizeStats<T>& stats) {
  for (size_t i = 0; i < n; ++i) quant_codes[i] = portable::quantize_one(values[i], q, stats);
}

template <class T>
void dequantize(const int32_t* quant_codes, size_t n, int32_t origin, T center, T step, T* values) {
  for (size_t i = 0; i < n; ++i) values[i] = portable::dequantize_one(quant_codes[i], origin, center, step);
}

void predict(const int32_t* quant_codes, const NeighbourRows& around, bool along_x, size_t n,
             int32_t* residual) {
  for (size_t i = 0; i < n; ++i) {
    const auto at = static_cast<ptrdiff_t>(i);
    uint32_t value = static_cast<uint32_t>(quant_codes[at]) - portable::neighbour_sum(around, at);
    if (along_x)
      value -= static_cast<uint32_t>(quant_codes[at - 1]) - portable::neighbour_sum(around, at - 1);
    residual[i] = static_cast<int32_t>(value);
  }
}

void unpredict(const int32_t* residual, const NeighbourRows& around, bool along_x, size_t n,
               int32_t* quant_codes) {
  uint32_t sum = 0;
  for (size_t i = 0; i < n; ++i) {
    sum = (along_x ? sum : 0) + static_cast<uint32_t>(residual[i]);
    quant_codes[i] = static_cast<int32_t>(sum + portable::neighbour_sum(around, static_cast<ptrdiff_t>(i)));
  }
}

size_t pack(const int32_t* residual, size_t n, int shift, uint8_t* symbols, int32_t* escapes) {
  size_t used = 0;
  for (size_t i = 0; i < n; ++i) {
    const int32_t value = residual[i] >> shift;
    const uint32_t symbol = static_cast<uint32_t>(value) + symbol_zero;
    const bool direct = symbol - 1 < 255;
    symbols[i] = direct ? static_cast<uint8_t>(symbol) : 0;
    if (!direct) escapes[used++] = value;
  }
  return used;
}

size_t unpack(const uint8_t* symbols, size_t n, int shift, std::span<const int32_t> escapes,
              int32_t* residual) {
  size_t used = 0;
  for (size_t i = 0; i < n; ++i) {
    uint32_t value = static_cast<uint32_t>(symbols[i]) - symbol_zero;
    if (symbols[i] == symbol_escape) {
      if (used == escapes.size()) return SIZE_MAX;
      value = static_cast<uint32_t>(escapes[used++]);
    }
    residual[i] = static_cast<int32_t>(value << shift);
  }
  return used;
}

size_t pack_wide(const int32_t* residual, size_t n, uint16_t* symbols) {
  size_t escapes = 0;
  for (size_t i = 0; i < n; ++i) {
    const uint32_t symbol = static_cast<uint32_t>(residual[i]) + wide_symbol_zero;
    const bool is_direct = symbol - 1 < wide_symbol_count - 1;
    symbols[i] = is_direct ? static_cast<uint16_t>(symbol) : wide_symbol_escape;
    escapes += is_direct ? 0 : 1;
  }
  return escapes;
}

size_t unpack_wide(const uint16_t* symbols, size_t n, int32_t* residual) {
  size_t escapes = 0;
  for (size_t i = 0; i < n; ++i) {
    residual[i] = static_cast<int32_t>(symbols[i]) - static_cast<int32_t>(wide_symbol_zero);
    escapes += symbols[i] == wide_symbol_escape ? 1 : 0;
  }
  return escapes;
}

template <class T>
void range(const T* values, size_t n, bool has_fill, T fill, T* min, T* max) {
  T lo = std::numeric_limits<T>::max();
  T hi = std::numeric_limits<T>::lowest();
  for (size_t i = 0; i < n; ++i) portable::extend_range(values[i], has_fill, fill, lo, hi);
  *min = lo;
  *max = hi;
}

// always_inline functions have no address that all compilers grant: lambdas stand for them.
template <class T>
InterpolationKernels<T> interpolation_kernels() {
  return {[](const T* a, const T* b, const T* c, const T* d, const T* weights, size_t n, T* out) {
            rows::axis(a, b, c, d, weights, n, out);
          },
          [](const T* const* taps, const T* weights, size_t count, const T* base, size_t n, T* sum) {
            rows::add_taps(taps, weights, count, base, n, sum);
          },
          [](const T* above, const T* here, const T* below, T scale, size_t n, T* out) {
            rows::estimate(above, here, below, scale, n, out);
          },
          [](const T* const* predictions, const T* const* estimates, int experts, size_t n, T* out) {
            rows::blend(predictions, estimates, experts, n, out);
          },
          [](T* values, const T* prediction, const ResidualQuantizer<T>& q, size_t n, int32_t* quant_codes) {
            rows::quantize(values, prediction, q, n, quant_codes);
          },
          [](const int32_t* quant_codes, const T* prediction, T step, size_t n, T* values) {
            rows::reconstruct(quant_codes, prediction, step, n, values);
          },
          [](const T* values, const T* prediction, T inverse_step, size_t n, T* out) {
            rows::errors(values, prediction, inverse_step, n, out);
          },
          [](const uint8_t* magnitudes, unsigned weight, size_t n, uint16_t* sum) {
            rows::add_magnitudes(magnitudes, weight, n, sum);
          }};
}

NEVE_WORD_KERNELS

}  // namespace

const Kernels& portable_kernels() {
  static const Kernels table{"portable",
                             quantize<float>,
                             quantize<double>,
                             dequantize<float>,
                             dequantize<double>,
                             predict,
                             unpredict,
                             pack,
                             unpack,
                             pack_wide,
                             unpack_wide,
                             range<float>,
                             range<double>,
                             interpolation_kernels<float>(),
                             interpolation_kernels<double>(),
                             &Words<uint8_t>::table,
                             &Words<uint16_t>::table,
                             &Words<uint32_t>::table,
                             &Words<uint64_t>::table,
                             &portable_stream_kernels(),
                             &portable_row_kernels(),
                             &portable_axis_kernels(float{}),
                             &portable_axis_kernels(double{})};
  return table;
}

}  // namespace neve
