// SPDX-License-Identifier: BSD-3-Clause
// Values as unsigned words that can be subtracted and compared: bit patterns of floats in the order of their
// values. Exact and total: NaN payloads and -0 are words like any other.
#pragma once

#include <cstdint>
#include <type_traits>

#include "format/zigzag.hpp"

namespace neve {

template <class T>
using WordOf = std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>;

template <class U>
inline constexpr int word_bits = static_cast<int>(sizeof(U)) * 8;

// IEEE 754 orders like sign and magnitude; negative values are turned around below the positive ones.
template <class U>
constexpr U ordered_word(U bits) {
  using Signed = std::make_signed_t<U>;
  const U sign = static_cast<U>(static_cast<Signed>(bits) >> (word_bits<U> - 1));
  return bits ^ (sign | (U{1} << (word_bits<U> - 1)));
}
template <class U>
constexpr U bits_of_ordered(U word) {
  using Signed = std::make_signed_t<U>;
  const U negative = static_cast<U>(static_cast<Signed>(~word) >> (word_bits<U> - 1));
  return word ^ (negative | (U{1} << (word_bits<U> - 1)));
}

}  // namespace neve
