// SPDX-License-Identifier: BSD-3-Clause
// Words by planes: bytes of equal significance together (shuffle), or bits (bitshuffle), so that a byte
// compressor finds what repeats.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/bits/bytes.hpp"

namespace neve {

// `word_bytes` is 1, 2, 4 or 8; spans hold whole words and are equally long.
void to_byte_planes(ByteSpan words, size_t word_bytes, std::span<std::byte> planes);
// Some of the words: their bytes from `planes` on, of planes that are `plane_bytes` apart.
void deal_bytes(ByteSpan words, size_t word_bytes, std::byte* planes, size_t plane_bytes);
void from_byte_planes(ByteSpan planes, size_t word_bytes, std::span<std::byte> words);

// Bit planes of the byte planes, most significant first; of each plane the words beyond a multiple of 8 stay
// bytes, behind its bits.
void to_bit_planes(ByteSpan words, size_t word_bytes, std::span<std::byte> planes);
void from_bit_planes(ByteSpan planes, size_t word_bytes, std::span<std::byte> words);

}  // namespace neve
