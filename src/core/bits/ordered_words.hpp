// SPDX-License-Identifier: BSD-3-Clause
// Values as unsigned words that can be subtracted and compared: bit patterns of floats in the order of their
// values. Exact and total: NaN payloads and -0 are words like any other. Integers are unsigned words as they
// are, whatever their sign: differences modulo 2^bits are the same.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "core/bits/zigzag.hpp"

namespace neve {

template <size_t bytes>
struct WordOfBytes;
template <>
struct WordOfBytes<1> {
  using type = uint8_t;
};
template <>
struct WordOfBytes<2> {
  using type = uint16_t;
};
template <>
struct WordOfBytes<4> {
  using type = uint32_t;
};
template <>
struct WordOfBytes<8> {
  using type = uint64_t;
};
template <class T>
using WordOf = typename WordOfBytes<sizeof(T)>::type;

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

// The word of a value of T that has these bits, and back.
template <class T>
constexpr WordOf<T> word_of(WordOf<T> bits) {
  if constexpr (std::is_floating_point_v<T>) {
    return ordered_word<WordOf<T>>(bits);
  } else {
    return bits;
  }
}
template <class T>
constexpr WordOf<T> bits_of_word(WordOf<T> word) {
  if constexpr (std::is_floating_point_v<T>) {
    return bits_of_ordered<WordOf<T>>(word);
  } else {
    return word;
  }
}

}  // namespace neve
