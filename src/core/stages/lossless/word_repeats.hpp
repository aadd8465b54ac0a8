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

#include "core/bits/bytes.hpp"
#include "core/bits/ordered_words.hpp"
#include "core/bits/word_hash.hpp"
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

// By position, not overlapping. Words are ordered ones.
template <class U>
std::vector<WordRepeat> find_repeats(std::span<const U> words);

void write_repeats(std::span<const WordRepeat> repeats, ByteWriter& out);
// Of `words` words. Errors: corrupt.
Result<std::vector<WordRepeat>> read_repeats(ByteReader& in, size_t words);

}  // namespace neve
