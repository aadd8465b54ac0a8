// SPDX-License-Identifier: BSD-3-Clause
// Code lengths and canonical codes for any alphabet of up to 1024 symbols.
#pragma once

#include <cstdint>
#include <span>

#include "neve/status.hpp"

namespace neve {

inline constexpr size_t max_alphabet = 1024;

// Lengths of a prefix code of at most `max_bits` for the symbols `ascending`, which all occur: by count, the
// rarest first. An order that is only nearly right costs bits, not correctness. Other symbols are not
// touched. One symbol gets one bit. 2^max_bits is at least the number of symbols.
void huffman_lengths(std::span<const uint32_t> counts, std::span<const uint16_t> ascending, int max_bits,
                     std::span<uint8_t> lengths);

inline uint32_t reverse_16_bits(uint32_t bits) {
  bits = (bits >> 1 & 0x5555) | (bits & 0x5555) << 1;
  bits = (bits >> 2 & 0x3333) | (bits & 0x3333) << 2;
  bits = (bits >> 4 & 0x0f0f) | (bits & 0x0f0f) << 4;
  return (bits >> 8 & 0xff) | (bits & 0xff) << 8;
}

// Refuses lengths (0: no code) that do not fill the code space, the sum of 2^-length being 1; a single code
// has one bit.
Status require_complete_code(std::span<const uint8_t> lengths, int max_bits);

// Canonical codes of the symbols with a length, at most 16 bits, in bit order for writing least significant
// bit first.
void canonical_codes(std::span<const uint8_t> lengths, int max_bits, std::span<uint16_t> codes);

}  // namespace neve
