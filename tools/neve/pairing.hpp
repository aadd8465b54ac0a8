// SPDX-License-Identifier: BSD-3-Clause
// Which box and field of a copy belongs to which of the original: writers may order both anew.
#pragma once

#include <vector>

#include "neve/hierarchy.hpp"
#include "neve/status.hpp"

namespace neve::cli {

struct Pairing {
  std::vector<int> component;         // of the copy, by the original's component
  std::vector<std::vector<int>> box;  // of the copy, by the original's level and box
};

// An error (failure) where the two do not hold the same boxes, fields and element type.
Result<Pairing> pair_up(const Hierarchy& original, const Hierarchy& copy);

}  // namespace neve::cli
