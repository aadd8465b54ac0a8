// SPDX-License-Identifier: BSD-3-Clause
#include "codecs/reconstruct.hpp"

#include <algorithm>

#include "kernels/portable.hpp"
#include "stages/quantize/quantizer.hpp"
#include "threads/float_environment.hpp"

namespace neve {

template <class T>
void reconstruct_values(const T* values, T* restored, int64_t count, const ComponentSpec& spec) {
  const FloatEnvironment environment;
  if (spec.codec == Codec::exact || !make_grid<T>(spec).is_usable()) {
    if (restored != values) std::copy(values, values + count, restored);
    return;
  }
  const Quantizer<T> quantizer = make_quantizer<T>(spec);
  QuantizeStats<T> stats;
  for (int64_t i = 0; i < count; ++i) {
    const int32_t quantum = portable::quantize_one(values[i], quantizer, stats);
    restored[i] =
        quantum == rejected_quantum ? values[i] : static_cast<T>(quantum) * quantizer.step + quantizer.center;
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
