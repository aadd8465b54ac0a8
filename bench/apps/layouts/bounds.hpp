// SPDX-License-Identifier: BSD-3-Clause
// The absolute bound of every field of every level, from its range over all ranks: as Neve's writer has it.
#pragma once

#include <vector>

#include "bench/apps/layouts/input.hpp"
#include "neve/frame.hpp"

namespace neve::layouts {

using Bounds = std::vector<std::vector<double>>;  // [level][component]; 0: bit for bit

struct FieldBounds {
  std::vector<std::vector<ValueRange>> ranges;  // [level][component]
  Bounds bounds;
};

// Collective. Nobody looks for fill values, so that all ways keep the same bounds.
Result<FieldBounds> measure_bounds(const mpi::Comm& comm, const Input& input, const Bound& bound);

// All 0.
Bounds bit_for_bit(const Input& input);

}  // namespace neve::layouts
