// SPDX-License-Identifier: BSD-3-Clause
// Zigzag: differences modulo 2^bits as words that are small when the difference is, of either sign.
#pragma once

#include <type_traits>

namespace neve {

// 0, -1, 1, -2, ... become 0, 1, 2, 3, ... U is unsigned.
template <class U>
constexpr U fold_sign(U difference) {
  using Signed = std::make_signed_t<U>;
  return static_cast<U>(difference << 1) ^
         static_cast<U>(static_cast<Signed>(difference) >> (static_cast<int>(sizeof(U)) * 8 - 1));
}
template <class U>
constexpr U unfold_sign(U folded) {
  return static_cast<U>(folded >> 1) ^ static_cast<U>(U{0} - (folded & 1));
}

// The same from and to signed numbers.
template <class S>
constexpr std::make_unsigned_t<S> zigzag(S value) {
  return fold_sign(static_cast<std::make_unsigned_t<S>>(value));
}
template <class U>
constexpr std::make_signed_t<U> unzigzag(U folded) {
  return static_cast<std::make_signed_t<U>>(unfold_sign(folded));
}

}  // namespace neve
