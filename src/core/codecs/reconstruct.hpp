// SPDX-License-Identifier: BSD-3-Clause
// What a reader will get for a value, without encoding it: dual quantization's result depends on the value
// alone.
#pragma once

#include <cstdint>

#include "neve/frame.hpp"

namespace neve {

// restored[i] = the decoded form of values[i] when it is held under `spec` with codec dual_quant or
// automatic. T is float or double; restored may be values.
template <class T>
void reconstruct_values(const T* values, T* restored, int64_t count, const ComponentSpec& spec);

// The same for values of `dtype` in memory.
void reconstruct_values(DType dtype, const void* values, void* restored, int64_t count,
                        const ComponentSpec& spec);

}  // namespace neve
