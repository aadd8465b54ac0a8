// SPDX-License-Identifier: BSD-3-Clause
#include "core/codecs/reconstruct.hpp"

#include <algorithm>

#include "core/catalog/codecs.hpp"
#include "core/kernels/kernels.hpp"
#include "core/stages/quantize/quantizer.hpp"
#include "core/stages/quantize/value_rules.hpp"
#include "core/threads/float_environment.hpp"

namespace neve {
namespace {

constexpr int64_t block_values = 1024;  // codes and decoded values of a block stay in the first cache

}  // namespace

template <class T>
void reconstruct_values(const T* values, T* restored, int64_t count, const ComponentSpec& spec) {
  const FloatEnvironment environment;
  if (traits_of(spec.codec).keeps_bits || !make_grid<T>(spec).is_usable()) {
    if (restored != values) std::copy(values, values + count, restored);
    return;
  }
  const Quantizer<T> quantizer = make_quantizer<T>(spec);
  const ValueRules<T> rules(spec, quantizer);
  QuantizeStats<T> stats;
  int32_t quant_codes[block_values + row_padding];
  T decoded[block_values + row_padding];
  for (int64_t begin = 0; begin < count; begin += block_values) {
    const auto n = static_cast<size_t>(std::min<int64_t>(block_values, count - begin));
    const size_t rejected_before = stats.rejected;
    rules.quantize(values + begin, n, quantizer, quant_codes, stats);
    dequantize(quant_codes, n, quantizer.origin, QuantizationGrid<T>{quantizer.center, quantizer.step},
               decoded);
    if (stats.rejected != rejected_before) {
      for (size_t i = 0; i < n; ++i) {
        if (quant_codes[i] == rejected_quant_code) decoded[i] = values[begin + static_cast<int64_t>(i)];
      }
    }
    std::copy(decoded, decoded + n, restored + begin);
  }
}

void reconstruct_values(DType dtype, const void* values, void* restored, int64_t count,
                        const ComponentSpec& spec) {
  if (dtype == DType::f32) {
    reconstruct_values(static_cast<const float*>(values), static_cast<float*>(restored), count, spec);
  } else {
    reconstruct_values(static_cast<const double*>(values), static_cast<double*>(restored), count, spec);
  }
}

template void reconstruct_values<float>(const float*, float*, int64_t, const ComponentSpec&);
template void reconstruct_values<double>(const double*, double*, int64_t, const ComponentSpec&);

}  // namespace neve
