// SPDX-License-Identifier: BSD-3-Clause
// Hashes by which words and runs of words that repeat are found (stages/lossless/word_repeats.hpp).
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/bits/ordered_words.hpp"

namespace neve {

// Shorter ones do not pay.
inline constexpr size_t min_repeat = 4;

// Low bits that may differ: of doubles what computing the same in another order leaves different. (Of floats
// those bits are too much of a value to be ignored.)
template <class U>
inline constexpr int repeat_loose_bits = sizeof(U) == 8 ? 24 : 0;

// What repeats of an ordered word: its value's magnitude without the loose bits.
template <class U>
constexpr U repeated_part(U word) {
  const U magnitude = word ^ static_cast<U>((word >> (word_bits<U> - 1)) - 1);
  return static_cast<U>(static_cast<U>(magnitude << 1) >> (repeat_loose_bits<U> + 1));
}
template <class U>
constexpr uint32_t hash_of_word(U word) {
  constexpr uint32_t odd = 0x9e3779b1;  // 2^32 over the golden ratio, near which a prime
  const U part = repeated_part(word);
  auto folded = static_cast<uint32_t>(part);
  // The bits beyond 32 are few: the value's sign is gone, its loose bits too.
  if constexpr (sizeof(U) == 8) folded ^= static_cast<uint32_t>(part >> 32) << repeat_loose_bits<U>;
  const uint32_t mixed = folded * odd;
  return mixed ^ (mixed >> 15);
}

// Of min_repeat words in a row, from their hashes; the same when the run is turned around.
constexpr uint32_t hash_of_run(const uint32_t* hashes) {
  constexpr uint32_t odd = 0x85ebca6b;
  uint32_t sum = 0;
  for (size_t k = 0; k < min_repeat; ++k) sum += hashes[k];
  return sum * odd;
}

}  // namespace neve
