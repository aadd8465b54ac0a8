// SPDX-License-Identifier: BSD-3-Clause
// The loops of word_kernels.hpp, written once as plain loops and compiled for each instruction set.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "core/bits/ordered_words.hpp"
#include "core/bits/word_hash.hpp"
#include "core/bits/zigzag.hpp"
#include "core/kernels/word_kernels.hpp"

namespace neve::rows {

// What a float of the word's size tells about a whole number, exactly: its exponent and top mantissa bits are
// the residual's length and head.
template <class U>
struct HeadFloat;
template <>
struct HeadFloat<uint32_t> {
  using Float = float;
  static constexpr int mantissa_bits = 23, bias = 127;
};
template <>
struct HeadFloat<uint64_t> {
  using Float = double;
  static constexpr int mantissa_bits = 52, bias = 1023;
};

// Words are as wide as a float at least.
template <class U>
constexpr auto float_sized(U word) {
  return static_cast<std::conditional_t<(sizeof(U) < 4), uint32_t, U>>(word);
}

// symbol = word below 4; else 4 (length - 2) + the two bits below the top one. A word below 2^mantissa_bits,
// put into the mantissa of that power of two and less it, is itself as a float; longer words lose their low
// bits first.
template <class U>
inline __attribute__((always_inline)) uint8_t class_of(U word) {
  using Head = HeadFloat<U>;
  using Float = typename Head::Float;
  constexpr int dropped = word_bits<U> - Head::mantissa_bits;
  constexpr U magic = static_cast<U>(Head::bias + Head::mantissa_bits) << Head::mantissa_bits;
  // Masks, for compilers make vectors of those only.
  const U is_long = U{0} - static_cast<U>((word >> Head::mantissa_bits) != 0);
  const U head = word ^ ((word ^ (word >> dropped)) & is_long);
  const Float whole = std::bit_cast<Float>(head | magic) - std::bit_cast<Float>(magic);
  const U quarter_octaves = std::bit_cast<U>(whole) >> (Head::mantissa_bits - 2);
  const U symbol = quarter_octaves - U{4 * (Head::bias + 1)} + (U{4 * dropped} & is_long);
  const U is_small = U{0} - static_cast<U>((word >> 2) == 0);
  return static_cast<uint8_t>(symbol ^ ((symbol ^ word) & is_small));
}

// The signed sum of `count` rows at i; signs as in NeighbourRows.
template <size_t count, class U>
inline __attribute__((always_inline)) U around_sum(const U* const* rows, size_t i) {
  if constexpr (count == 0) return 0;
  if constexpr (count == 1) return rows[0][i];
  if constexpr (count == 3) return rows[0][i] + rows[1][i] - rows[2][i];
  if constexpr (count == 7) {
    return rows[0][i] + rows[1][i] - rows[2][i] + rows[3][i] - rows[4][i] - rows[5][i] + rows[6][i];
  }
}

#define NEVE_WORD_LOOP static inline __attribute__((always_inline)) void

template <class U>
struct WordRows {
  NEVE_WORD_LOOP order(const U* bits, size_t n, U* words) {
    for (size_t i = 0; i < n; ++i) words[i] = ordered_word<U>(bits[i]);
  }
  NEVE_WORD_LOOP unorder(const U* words, size_t n, U* bits) {
    for (size_t i = 0; i < n; ++i) bits[i] = bits_of_ordered<U>(words[i]);
  }
  NEVE_WORD_LOOP differ(const U* words, const U* const* around, size_t count, size_t n, U* out) {
    if (count == 0) return difference_loop<0>(words, around, n, out);
    if (count == 1) return difference_loop<1>(words, around, n, out);
    if (count == 3) return difference_loop<3>(words, around, n, out);
    difference_loop<7>(words, around, n, out);
  }
  NEVE_WORD_LOOP fold(const U* words, size_t n, U* folded) {
    for (size_t i = 0; i < n; ++i) folded[i] = fold_sign<U>(words[i]);
  }
  NEVE_WORD_LOOP fold_steps(const U* words, size_t n, U* folded) {
    const U* const before = words - 1;
    for (size_t i = 0; i < n; ++i) folded[i] = fold_sign<U>(words[i] - before[i]);
  }
  NEVE_WORD_LOOP hash(const U* words, size_t n, uint32_t* hashes) {
    for (size_t i = 0; i < n; ++i) hashes[i] = hash_of_word<U>(words[i]);
  }
  template <size_t count>
  NEVE_WORD_LOOP difference_loop(const U* words, const U* const* around, size_t n, U* out) {
    const U* rows[count + 1] = {};
    for (size_t r = 0; r < count; ++r) rows[r] = around[r];
    for (size_t i = 0; i < n; ++i) out[i] = words[i] - around_sum<count>(rows, i);
  }
  NEVE_WORD_LOOP classify(const U* residuals, size_t n, uint8_t* symbols) {
    for (size_t i = 0; i < n; ++i) symbols[i] = class_of(float_sized(residuals[i]));
  }
};

}  // namespace neve::rows

// The table of one instruction set: functions of the namespace where this stands, compiled for its target.
#define NEVE_WORD_KERNELS                                                                                   \
  template <class U>                                                                                        \
  struct Words {                                                                                            \
    using Rows = rows::WordRows<U>;                                                                         \
    static void Order(const U* bits, size_t n, U* words) { Rows::order(bits, n, words); }                   \
    static void Unorder(const U* words, size_t n, U* bits) { Rows::unorder(words, n, bits); }               \
    static void Differ(const U* words, const U* const* around, size_t count, size_t n, U* __restrict out) { \
      Rows::differ(words, around, count, n, out);                                                           \
    }                                                                                                       \
    static void Fold(const U* words, size_t n, U* folded) { Rows::fold(words, n, folded); }                 \
    static void FoldSteps(const U* __restrict words, size_t n, U* __restrict folded) {                      \
      Rows::fold_steps(words, n, folded);                                                                   \
    }                                                                                                       \
    static void Hash(const U* __restrict words, size_t n, uint32_t* __restrict hashes) {                    \
      Rows::hash(words, n, hashes);                                                                         \
    }                                                                                                       \
    static void Classify(const U* __restrict residuals, size_t n, uint8_t* __restrict symbols) {            \
      Rows::classify(residuals, n, symbols);                                                                \
    }                                                                                                       \
    static constexpr WordKernels<U> table{Order, Unorder, Differ, Fold, FoldSteps, Hash, Classify};         \
  };
