// SPDX-License-Identifier: BSD-3-Clause
// What an encoder tells of a field's interpolation: linear or cubic, and least-squares stencils.
#pragma once

#include <cstdint>
#include <vector>

#include "core/stages/predict/interpolation.hpp"

namespace neve {

// Levels that a section may tell of.
inline constexpr int model_levels = 4;
// Largest magnitude of a stencil's weight, in 1 / stencil_unit.
inline constexpr int32_t stencil_weight_limit = 1 << 15;

// Fits to the original values of split fields. Plain double arithmetic in a fixed order: the same model
// whatever instruction set runs.
template <class T>
InterpolationModel fit_interpolation(const std::vector<PhaseField<T>>& fields, T step);

}  // namespace neve
