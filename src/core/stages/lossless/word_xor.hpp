// SPDX-License-Identifier: BSD-3-Clause
// Each word XOR the one before it, in place; the first stays.
#pragma once

#include <cstddef>
#include <span>

namespace neve {

// U is unsigned.
template <class U>
void xor_with_previous(std::span<U> words) {
  for (size_t i = words.size(); i-- > 1;) words[i] ^= words[i - 1];
}
template <class U>
void undo_xor(std::span<U> words) {
  for (size_t i = 1; i < words.size(); ++i) words[i] ^= words[i - 1];
}

}  // namespace neve
