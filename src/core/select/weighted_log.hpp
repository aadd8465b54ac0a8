// SPDX-License-Identifier: BSD-3-Clause
// Entropies of counts of samples.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/math/portable_math.hpp"

namespace neve {

inline constexpr size_t max_counted = 4096;

// n log2(n), n up to max_counted.
inline double weighted_log(uint32_t n) {
  static const std::vector<double> table = [] {
    std::vector<double> values(max_counted + 1, 0);
    for (size_t k = 1; k < values.size(); ++k)
      values[k] = static_cast<double>(k) * math::log2(static_cast<double>(k));
    return values;
  }();
  return table[n];
}

}  // namespace neve
