// SPDX-License-Identifier: BSD-3-Clause
// Which directions Lorenzo prediction differences, chosen from samples.
//
// Differencing along a direction removes what neighbours share and doubles the variance of what they do
// not (quantization noise included), so rough fields do better with fewer directions than all.
#pragma once

#include <cstdint>

#include "core/kernels/kernels.hpp"
#include "core/sections/section_data.hpp"

namespace neve {

struct AxisChoice {
  uint8_t axes = 0;    // bit d: difference along direction d
  uint8_t shift = 0;   // low bits of the residual that are stored raw
  int32_t origin = 0;  // subtracted from every quantization code, so that the first ones of a box are small
  double bits = 0;     // of a value, by the entropy of the sample
  bool has_gaps = false;  // some sampled cells are left out or have no quantization code
};

// `quantizer` has origin 0.
template <class T>
AxisChoice choose_axes(const SectionSource<T>& source, Quantizer<T> quantizer);

}  // namespace neve
