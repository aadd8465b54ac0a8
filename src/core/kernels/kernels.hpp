// SPDX-License-Identifier: BSD-3-Clause
// The hot loops, one row at a time, behind one table per instruction set. Every table gives the same
// bytes; `portable` is plain C++ and the reference the others are compared with.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

namespace neve {

// Internal rows may be read and written up to this many elements past their end.
inline constexpr size_t row_padding = 16;
// What quantize leaves where a value cannot be coded by its quantization code. Never a quantization code (see
// quant_code_limit).
inline constexpr int32_t rejected_quant_code = std::numeric_limits<int32_t>::min();
// |quantization code| stays below: exact in double, and far from int32's ends.
inline constexpr int32_t quant_code_limit = 1 << 28;

template <class T>
struct Quantizer {
  int32_t origin;  // subtracted from every quantization code, so that the first ones of a box are small
  T center;        // value of quantization code 0
  T step;          // value between quantization codes, see make_grid (stages/quantize)
  T inverse_step;  // 1 / step
  T tolerance;     // largest |value - decoded| accepted: the bound less one part in 2^21 (2^50)
  T fill;          // rejected when has_fill, compared bit for bit
  bool has_fill;
};

template <class T>
struct QuantizeStats {
  T max_error = 0;
  size_t rejected = 0;
};

// The rows whose signed sum is the part of the Lorenzo prediction outside the row itself: for the
// directions y, z, w that are differenced, the row before in each non-empty subset of them. Sign is
// + for odd subsets. `rows[0..count)`, count is 0, 1, 3 or 7. Element -1 of each row is readable.
struct NeighbourRows {
  const int32_t* rows[7];
  uint8_t count;
};

// --- prediction by interpolation (stages/predict/interpolation.hpp) ------------------------------------

// Residual quantization codes stay below: exact in float with room for rounding.
inline constexpr int32_t residual_limit = 1 << 21;
// Errors of a prediction, in steps: what keeps a perfect one from silencing all others, and where "far off"
// ends (so that products of fourth powers stay finite in float).
inline constexpr double blend_floor = 0.05;
inline constexpr double error_cap = 100;

template <class T>
struct ResidualQuantizer {
  T step;
  T inverse_step;
  T tolerance;  // as in Quantizer
};

template <class T>
struct InterpolationKernels {
  // out = weights . (a, b, c, d), summed in this order.
  void (*axis)(const T* a, const T* b, const T* c, const T* d, const T* weights, size_t, T* out);
  // sum += weight * (tap - base) for each tap, in order
  void (*add_taps)(const T* const* taps, const T* weights, size_t count, const T* base, size_t, T* sum);
  // scale * (2 (above + here) + their left and right neighbours + below); elements -1 and n are readable.
  void (*estimate)(const T* above, const T* here, const T* below, T scale, size_t, T* out);
  // Mean of 2 to 4 predictions, each weighted by (estimate + blend_floor)^-4.
  void (*blend)(const T* const* predictions, const T* const* estimates, int experts, size_t, T* out);
  // quant_codes = nearest_even((value - prediction) / step), and the value becomes what it decodes to;
  // or rejected_quant_code, and the value stays, where that breaks the tolerance or residual_limit.
  void (*quantize)(T* values, const T* prediction, const ResidualQuantizer<T>&, size_t, int32_t* quant_codes);
  // value = prediction + quant_code * step
  void (*reconstruct)(const int32_t* quant_codes, const T* prediction, T step, size_t, T* values);
  // min(|value - prediction| * inverse_step, error_cap)
  void (*errors)(const T* values, const T* prediction, T inverse_step, size_t, T* out);
  // sum += weight * magnitude
  void (*add_magnitudes)(const uint8_t* magnitudes, unsigned weight, size_t, uint16_t* sum);
};

// Loops on words of lossless coding (kernels/word_kernels.hpp).
template <class U>
struct WordKernels;
// Codes, what codebooks cost, checksums (kernels/stream_kernels.hpp).
struct StreamKernels;
// Rows from values to symbols at once, and back (kernels/row_kernels.hpp).
struct AllRowKernels;
// Rows predicted along one axis (kernels/axis_kernels.hpp).
template <class T>
struct AxisKernels;

struct Kernels {
  const char* name;

  // quant_code[i] = nearest_even((value[i] - center) / step) - origin, or rejected_quant_code where
  // the decoded value is off by more than the tolerance or the value is NaN, infinite, -0 or the fill value.
  void (*quantize_f32)(const float*, size_t, const Quantizer<float>&, int32_t*, QuantizeStats<float>&);
  void (*quantize_f64)(const double*, size_t, const Quantizer<double>&, int32_t*, QuantizeStats<double>&);
  void (*dequantize_f32)(const int32_t*, size_t, int32_t origin, float center, float step, float*);
  void (*dequantize_f64)(const int32_t*, size_t, int32_t origin, double center, double step, double*);

  // residual = quant_codes - prediction, modulo 2^32. quant_codes[-1] is readable and 0.
  void (*predict)(const int32_t* quant_codes, const NeighbourRows&, bool along_x, size_t, int32_t* residual);
  // Its inverse. Writes quant_codes[0..n); elements past n are left undefined within the padding.
  void (*unpredict)(const int32_t* residual, const NeighbourRows&, bool along_x, size_t,
                    int32_t* quant_codes);

  // symbol = (residual >> shift) + 128 where that lies in 1..255, else 0 and the shifted residual is appended
  // to escapes. Returns how many were. Needs row_padding free elements in both outputs.
  size_t (*pack)(const int32_t* residual, size_t, int shift, uint8_t* symbols, int32_t* escapes);
  // residual = (symbol - 128) << shift, or the next escape << shift. Returns the escapes used; reads at most
  // `escapes.size()` and returns SIZE_MAX when it would need more.
  size_t (*unpack)(const uint8_t* symbols, size_t, int shift, std::span<const int32_t> escapes,
                   int32_t* residual);

  // The same for symbols of 10 bits: residual + 512 where that lies in 1..1023, else 0. Returns how many are
  // 0.
  size_t (*pack_wide)(const int32_t* residual, size_t, uint16_t* symbols);
  // residual = symbol - 512. Returns how many symbols are 0; theirs means nothing.
  size_t (*unpack_wide)(const uint16_t* symbols, size_t, int32_t* residual);

  // Minimum and maximum of the finite values that are not `fill` (when has_fill), or min > max: none.
  void (*range_f32)(const float*, size_t, bool has_fill, float fill, float* min, float* max);
  void (*range_f64)(const double*, size_t, bool has_fill, double fill, double* min, double* max);

  InterpolationKernels<float> interpolation_f32;
  InterpolationKernels<double> interpolation_f64;

  const WordKernels<uint8_t>* words_u8;
  const WordKernels<uint16_t>* words_u16;
  const WordKernels<uint32_t>* words_u32;
  const WordKernels<uint64_t>* words_u64;

  const StreamKernels* stream;
  const AllRowKernels* rows;

  const AxisKernels<float>* axis_f32;
  const AxisKernels<double>* axis_f64;
};

inline constexpr int symbol_zero = 128;  // the symbol of residual 0
inline constexpr int symbol_escape = 0;
inline constexpr int symbol_count = 256;

inline constexpr size_t wide_symbol_zero = 512;  // the symbol of residual 0, of 10 bits
inline constexpr size_t wide_symbol_escape = 0;
inline constexpr size_t wide_symbol_count = 1024;

const Kernels& kernels();  // the one in force
const Kernels& portable_kernels();

}  // namespace neve
