// SPDX-License-Identifier: BSD-3-Clause
// Codebooks of a stream: canonical prefix codes over 1024 symbols (CEAZ, section 3.2).
//
// Symbol 512 + r stands for residual r, |r| <= 511; symbol 0 is the escape, whose value follows in the side
// stream.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "core/bits/bytes.hpp"
#include "core/kernels/kernels.hpp"
#include "neve/status.hpp"

namespace neve::stream {

// 16 bits: with all 1024 symbols in use, the rare ones take 1/64 of the code space.
inline constexpr int max_wide_code_bits = 16;

using SymbolCounts = std::array<uint32_t, wide_symbol_count>;

// Code lengths in bits, 0 for symbols without a code.
struct Codebook {
  std::array<uint8_t, wide_symbol_count> length{};

  bool operator==(const Codebook&) const = default;
};

// Adds what occurs in `symbols`.
void count_symbols(std::span<const uint16_t> symbols, SymbolCounts& counts);

// How a codebook's symbols are put in order of their counts.
enum class SymbolOrder : uint8_t {
  pipeline,  // nearly, in one pass outwards from residual 0, as the hardware engine does
  exact,     // by sorting, or as a pipeline where that takes fewer bytes for codes and table
};
// A codebook for exactly the symbols that occur.
Codebook make_codebook(const SymbolCounts& counts, SymbolOrder order = SymbolOrder::pipeline);
// The symbols that occur, rarest first, nearly. Returns how many.
size_t approximate_order(const SymbolCounts& counts, std::array<uint16_t, wide_symbol_count>& ascending);

// Bits the symbols take, or UINT64_MAX when one of them has no code.
uint64_t coded_bits(const Codebook& codebook, const SymbolCounts& counts);

void write_codebook(const Codebook& codebook, Bytes& out);
uint64_t codebook_bytes(const Codebook& codebook);  // what write_codebook takes
// Errors: corrupt when the lengths are no complete prefix code.
Result<Codebook> read_codebook(ByteReader& in);

// The codebooks that both sides know (docs/format.md). `offline_codebooks_version` names the set; a stream
// says which it needs.
inline constexpr uint16_t offline_codebooks_version = 1;
std::span<const Codebook> offline_codebooks();

}  // namespace neve::stream
