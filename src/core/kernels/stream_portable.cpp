// SPDX-License-Identifier: BSD-3-Clause
// The reference of stream_simd.cpp in plain C++: the steps of a row one after the other.
#include <zlib.h>

#include <algorithm>

#include "core/kernels/code_lanes.hpp"
#include "core/kernels/portable.hpp"
#include "core/kernels/stream_kernels.hpp"

namespace neve {

namespace {

// Values at a time, so that what lies between two steps stays near.
constexpr size_t step_values = 512;

template <class T>
void quantize(const Kernels& k, const T* values, size_t n, const Quantizer<T>& q, int32_t* quant_codes,
              QuantizeStats<T>& stats) {
  if constexpr (sizeof(T) == 4) {
    k.quantize_f32(values, n, q, quant_codes, stats);
  } else {
    k.quantize_f64(values, n, q, quant_codes, stats);
  }
}

NeighbourRows shifted(NeighbourRows around, size_t x) {
  for (int r = 0; r < around.count; ++r) around.rows[r] += x;
  return around;
}

template <class T>
bool code_portable(const T* values, size_t n, const Quantizer<T>& q, const NeighbourRows& around,
                   int32_t* quant_codes, uint16_t* symbols, QuantizeStats<T>& stats) {
  return code_row_by_steps(portable_kernels(), values, n, q, around, quant_codes, symbols, stats);
}
template <class T>
bool restore_portable(const uint16_t* symbols, size_t n, const NeighbourRows& around, T step,
                      int32_t* quant_codes, T* values) {
  return restore_row_by_steps(portable_kernels(), symbols, n, around, step, quant_codes, values);
}

// Symbol by symbol is what the caller does anyway.
template <class Symbol>
size_t put_nothing(const Symbol*, size_t, const NarrowCodes&, BitSink&) {
  return 0;
}

bool decode_four(CodeLane* lanes, ptrdiff_t turns, const CodeLookups& table) {
  return code_lanes::run_four(lanes, turns, table);
}

void add_costs(const uint32_t* counts, const uint8_t (*lengths)[compared_codebooks], size_t symbols,
               uint32_t* costs) {
  for (size_t s = 0; s < symbols; ++s) {
    if (counts[s] == 0) continue;
    for (size_t b = 0; b < compared_codebooks; ++b) costs[b] += counts[s] * lengths[s][b];
  }
}

uint32_t crc32_of_zlib(uint32_t before, const std::byte* bytes, size_t n) {
  return static_cast<uint32_t>(crc32_z(before, reinterpret_cast<const unsigned char*>(bytes), n));
}

}  // namespace

template <class T>
bool code_row_by_steps(const Kernels& k, const T* values, size_t n, const Quantizer<T>& q,
                       const NeighbourRows& around, int32_t* quant_codes, uint16_t* symbols,
                       QuantizeStats<T>& stats) {
  std::array<int32_t, step_values + row_padding> residuals;
  size_t escapes = 0;
  for (size_t x = 0; x < n; x += step_values) {
    const size_t part = std::min(step_values, n - x);
    quantize(k, values + x, part, q, quant_codes + x, stats);
    k.predict(quant_codes + x, shifted(around, x), true, part, residuals.data());
    escapes += k.pack_wide(residuals.data(), part, symbols + x);
  }
  return escapes > 0;
}

template <class T>
bool restore_row_by_steps(const Kernels& k, const uint16_t* symbols, size_t n, const NeighbourRows& around,
                          T step, int32_t* quant_codes, T* values) {
  std::array<int32_t, step_values + row_padding> residuals;
  size_t escapes = 0;
  for (size_t x = 0; x < n; x += step_values) {
    const size_t part = std::min(step_values, n - x);
    escapes += k.unpack_wide(symbols + x, part, residuals.data());
    const NeighbourRows beside = shifted(around, x);
    // What prediction along the row adds to the first residual.
    const uint32_t carry = static_cast<uint32_t>(quant_codes[static_cast<ptrdiff_t>(x) - 1]) -
                           portable::neighbour_sum(beside, -1);
    residuals[0] = static_cast<int32_t>(static_cast<uint32_t>(residuals[0]) + carry);
    k.unpredict(residuals.data(), beside, true, part, quant_codes + x);
    if constexpr (sizeof(T) == 4) {
      k.dequantize_f32(quant_codes + x, part, 0, T{0}, step, values + x);
    } else {
      k.dequantize_f64(quant_codes + x, part, 0, T{0}, step, values + x);
    }
  }
  return escapes > 0;
}

template bool code_row_by_steps<float>(const Kernels&, const float*, size_t, const Quantizer<float>&,
                                       const NeighbourRows&, int32_t*, uint16_t*, QuantizeStats<float>&);
template bool code_row_by_steps<double>(const Kernels&, const double*, size_t, const Quantizer<double>&,
                                        const NeighbourRows&, int32_t*, uint16_t*, QuantizeStats<double>&);
template bool restore_row_by_steps<float>(const Kernels&, const uint16_t*, size_t, const NeighbourRows&,
                                          float, int32_t*, float*);
template bool restore_row_by_steps<double>(const Kernels&, const uint16_t*, size_t, const NeighbourRows&,
                                           double, int32_t*, double*);

const StreamKernels& portable_stream_kernels() {
  static const StreamKernels table{{code_portable<float>, restore_portable<float>},
                                   {code_portable<double>, restore_portable<double>},
                                   put_nothing<uint8_t>,
                                   put_nothing<uint16_t>,
                                   decode_four,
                                   add_costs,
                                   crc32_of_zlib};
  return table;
}

}  // namespace neve
