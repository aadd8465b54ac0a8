// SPDX-License-Identifier: BSD-3-Clause
// What a difference takes in a code that knows how large differences are, for estimates.
#pragma once

#include <array>
#include <bit>
#include <cstdint>

#include "core/math/portable_math.hpp"

namespace neve {

// log2(1 + 2 |difference|), of large differences rounded up.
inline double difference_bits(uint64_t magnitude) {
  constexpr size_t small = 64;
  static const std::array<double, small> table = [] {
    std::array<double, small> bits{};
    for (size_t k = 0; k < small; ++k) bits[k] = math::log2(1 + 2 * static_cast<double>(k));
    return bits;
  }();
  return magnitude < small ? table[magnitude] : std::bit_width(magnitude) + 1;
}

}  // namespace neve
