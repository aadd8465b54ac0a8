// SPDX-License-Identifier: BSD-3-Clause
// Huffman coding of a symbol stream as interleaved bit streams.
//
// The symbols are cut into equal consecutive parts (the last may be shorter), one bit stream each, so that a
// processor works on several at once. Bits are written least significant first.
#pragma once

#include <cstdint>
#include <span>

#include "core/bits/bytes.hpp"
#include "core/stages/entropy/huffman_code.hpp"
#include "neve/status.hpp"

namespace neve {

// One bit stream below this many symbols, else four.
inline constexpr size_t interleave_min_symbols = 1024;
inline constexpr size_t interleaved_bit_streams = 4;
// A section may use several codebooks; each block of symbols names one.
inline constexpr size_t codebook_block_symbols = 256;
inline constexpr size_t max_codebooks = 4;

// Symbols in each bit stream but the last: a multiple of codebook_block_symbols.
size_t symbols_per_bit_stream(size_t symbol_total);
size_t bit_stream_count(size_t symbol_total);

// `block_codebook[b]` is the codebook of block b; empty means codebook 0 everywhere. Every symbol has a code
// in its codebook.
void huffman_encode(std::span<const uint8_t> symbols, std::span<const Codebook> codebooks,
                    std::span<const uint8_t> block_codebook, ByteWriter& out);

// Writes exactly symbols.size() symbols.
// Errors: corrupt (a bit stream too short for its symbols).
Status huffman_decode(ByteReader& in, std::span<const Codebook> codebooks,
                      std::span<const uint8_t> block_codebook, std::span<uint8_t> symbols);

}  // namespace neve
