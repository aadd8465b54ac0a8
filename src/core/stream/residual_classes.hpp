// SPDX-License-Identifier: BSD-3-Clause
// Residuals of a block with extra bits (docs/format.md, "Stream"): 1024 symbols for classes of them, which
// extra bits tell apart, as length codes of DEFLATE do. 16 classes an octave: within one a Laplace
// distribution is so nearly even that a value loses less than 0.001 bits.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <limits>

#include "core/kernels/kernels.hpp"

namespace neve::stream {

// Below it each residual has a symbol of its own.
inline constexpr uint32_t first_class = 128;
inline constexpr unsigned first_class_octave = 7, class_bits = 4;
// Has no class: its symbol is the escape.
inline constexpr int32_t unclassed_residual = std::numeric_limits<int32_t>::min();

// Residuals whose magnitude m has the same leading bit: their class is (m >> shift) + offset.
struct ClassOctave {
  uint8_t shift = 0;
  uint8_t extra_bits = 0;
  uint16_t offset = 0;
};

// Signs are as good as random: no branch depends on one. All bits set: negative.
constexpr uint32_t sign_of(int32_t residual) { return 0U - (static_cast<uint32_t>(residual) >> 31); }
constexpr uint32_t with_sign(uint32_t value, uint32_t sign) { return (value ^ sign) - sign; }
constexpr uint32_t magnitude_of(int32_t residual) {
  return with_sign(static_cast<uint32_t>(residual), sign_of(residual));
}
// Of the leading bit; what is below the first class counts as the octave before.
constexpr unsigned octave_of(uint32_t magnitude) {
  return static_cast<unsigned>(std::bit_width(magnitude | (first_class - 1))) - 1;
}

inline constexpr auto class_octaves = [] {
  std::array<ClassOctave, 32> octaves{};
  for (unsigned o = first_class_octave; o < octaves.size() - 1; ++o) {
    const unsigned bits = o - class_bits;
    // The leading bit of m >> shift counts an octave.
    const uint32_t offset = first_class + ((o - first_class_octave) << class_bits) - (1U << class_bits);
    octaves[o] = {static_cast<uint8_t>(bits), static_cast<uint8_t>(bits), static_cast<uint16_t>(offset)};
  }
  // Of unclassed_residual alone: 512 below the symbol of 0 is the escape.
  octaves.back() = {31, 0, wide_symbol_zero - 1};
  return octaves;
}();

constexpr unsigned extra_bits_of(int32_t residual) {
  return class_octaves[octave_of(magnitude_of(residual))].extra_bits;
}

struct ClassedResidual {
  uint16_t symbol = 0;
  uint8_t bits = 0;
  uint32_t extra = 0;
};
constexpr ClassedResidual classed(int32_t residual) {
  const uint32_t magnitude = magnitude_of(residual);
  const ClassOctave octave = class_octaves[octave_of(magnitude)];
  const uint32_t c = (magnitude >> octave.shift) + octave.offset;
  const uint32_t symbol = wide_symbol_zero + with_sign(c, sign_of(residual));
  return {static_cast<uint16_t>(symbol), octave.extra_bits, magnitude & ((1U << octave.extra_bits) - 1)};
}

// Of a symbol other than the escape: the least magnitude of its class.
struct ResidualClass {
  uint32_t least = 0;
  uint8_t bits = 0;
  bool is_negative = false;
};
constexpr ResidualClass residual_class(uint32_t symbol) {
  const bool is_negative = symbol < wide_symbol_zero;
  const uint32_t c = is_negative ? wide_symbol_zero - symbol : symbol - wide_symbol_zero;
  if (c < first_class) return {c, 0, is_negative};
  const unsigned bits = ((c - first_class) >> class_bits) + first_class_octave - class_bits;
  const uint32_t mantissa = (1U << class_bits) + ((c - first_class) & ((1U << class_bits) - 1));
  return {mantissa << bits, static_cast<uint8_t>(bits), is_negative};
}

}  // namespace neve::stream
