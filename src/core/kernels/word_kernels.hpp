// SPDX-License-Identifier: BSD-3-Clause
// The row loops of lossless coding on unsigned words, of which kernels.hpp has a table for each instruction
// set: integer arithmetic modulo 2^bits alone, so that all give the same bits.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/kernels/kernels.hpp"

namespace neve {

// U is an unsigned integer of 8 to 64 bits.
template <class U>
struct WordKernels {
  // words = ordered_word(bits), and back (stages/lossless/ordered_words.hpp). May work in place.
  void (*order)(const U* bits, size_t, U* words);
  void (*unorder)(const U* words, size_t, U* bits);
  // differences[i] = words[i] less the signed sum of the rows around it, of which there are 0, 1, 3 or 7, in
  // the order and with the signs of NeighbourRows.
  void (*differ)(const U* words, const U* const* around, size_t count, size_t, U* differences);
  // folded[i] = fold_sign(words[i]); may work in place.
  void (*fold)(const U* words, size_t, U* folded);
  // The same of words[i] - words[i - 1]; words[-1] is readable.
  void (*fold_steps)(const U* words, size_t, U* folded);
  // hashes[i] = hash_of_word(words[i]) (bits/word_hash.hpp).
  void (*hash)(const U* words, size_t, uint32_t* hashes);
  // The class of each residual (stages/entropy/residual_classes.hpp).
  void (*classify)(const U* residuals, size_t, uint8_t* symbols);
};

inline const WordKernels<uint8_t>& word_kernels(uint8_t) { return *kernels().words_u8; }
inline const WordKernels<uint16_t>& word_kernels(uint16_t) { return *kernels().words_u16; }
inline const WordKernels<uint32_t>& word_kernels(uint32_t) { return *kernels().words_u32; }
inline const WordKernels<uint64_t>& word_kernels(uint64_t) { return *kernels().words_u64; }

}  // namespace neve
