// SPDX-License-Identifier: BSD-3-Clause
// Runs of words that stand a second time, all but their low bits: mirrored and periodic fields, copies, time
// steps that change little. LZ77 (Ziv and Lempel, 1977) on words in place of bytes, whose matches predict:
// what low bits differ by is a residual like any other. A run may be turned around (a field mirrored along
// x), and its values may have the other sign.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/format/bytes.hpp"
#include "core/stages/lossless/ordered_words.hpp"
#include "neve/status.hpp"

namespace neve {

struct WordRepeat {
  size_t begin = 0;  // of the words that are predicted
  size_t count = 0;
  size_t source = 0;  // what predicts the first of them, before `begin`
  bool is_reversed = false;
  bool is_negated = false;

  // What predicts the ordered word number i. (The ordered word of -v is the complement of that of v.)
  template <class U>
  U word(const U* words, size_t i) const {
    const U found = words[is_reversed ? source - (i - begin) : source + (i - begin)];
    return is_negated ? static_cast<U>(~found) : found;
  }
};

// Shorter ones do not pay.
inline constexpr size_t least_repeat = 4;

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

// Of least_repeat words in a row, from their hashes; the same when the run is turned around.
constexpr uint32_t hash_of_run(const uint32_t* hashes) {
  constexpr uint32_t odd = 0x85ebca6b;
  uint32_t sum = 0;
  for (size_t k = 0; k < least_repeat; ++k) sum += hashes[k];
  return sum * odd;
}

// By position, not overlapping. Words are ordered ones.
template <class U>
std::vector<WordRepeat> find_repeats(std::span<const U> words);

void write_repeats(std::span<const WordRepeat> repeats, ByteWriter& out);
// Of `words` words. Errors: corrupt.
Result<std::vector<WordRepeat>> read_repeats(ByteReader& in, size_t words);

}  // namespace neve
