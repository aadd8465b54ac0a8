// SPDX-License-Identifier: BSD-3-Clause
// How many bytes codec interpolation would take, from a few samples.
#pragma once

#include "core/kernels/kernels.hpp"
#include "core/sections/section_data.hpp"
#include "core/stages/quantize/value_rules.hpp"

namespace neve {

// Free of side effects. Predicts sampled cells of the finest level from their neighbours and takes the
// entropy of the residuals. Mostly on the high side: the codec also has stencils, and adapts over the field.
// HUGE_VAL where too few cells have neighbours.
template <class T>
double estimate_interpolation_bytes(const SectionSource<T>& source, const Quantizer<T>& quantizer,
                                    const ValueRules<T>& rules);

}  // namespace neve
