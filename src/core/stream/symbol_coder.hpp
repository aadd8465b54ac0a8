// SPDX-License-Identifier: BSD-3-Clause
// The symbols of a block as one stream of bits, least significant first, as a hardware lane packs them. What
// a single stream costs a processor is won back by decoding several blocks side by side.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "core/bits/bytes.hpp"
#include "core/kernels/stream_kernels.hpp"
#include "core/stream/codebook.hpp"
#include "neve/status.hpp"

namespace neve::stream {

// Codes of all symbols, least significant bit first. Two tables: two loads are cheaper than taking one apart.
struct CodeTable {
  std::array<uint16_t, wide_symbol_count> code{};
  std::array<uint8_t, wide_symbol_count> length{};
  NarrowCodes narrow;
};
void make_code_table(const Codebook& codebook, CodeTable& table);

// Where codes of n symbols go needs at most this many bytes.
inline constexpr size_t coded_bytes_limit(size_t n) { return n * max_wide_code_bits / 8 + 16; }
// Returns how many it wrote. Every symbol has a code.
size_t encode_symbols(std::span<const uint16_t> symbols, const CodeTable& table, std::byte* out);

class DecodeTable {
 public:
  explicit DecodeTable(const Codebook& codebook);

  CodeLookups lookups() const { return {several_.data(), longer_.data()}; }

  struct One {
    uint16_t symbol;
    uint16_t bits;  // 0: no code begins like this
  };
  One one(uint64_t next) const;  // at least max_wide_code_bits of them

 private:
  std::array<uint64_t, CodeLookups::entries> several_;
  std::vector<uint32_t> longer_;
  // Canonical decoding: by length the first code, how many, and where their symbols begin.
  std::array<uint32_t, max_wide_code_bits + 1> first_{};
  std::array<uint32_t, max_wide_code_bits + 1> count_{};
  std::array<uint32_t, max_wide_code_bits + 1> offset_{};
  std::array<uint16_t, wide_symbol_count> symbols_{};
};

// One block: `symbols` has room for decode_padding elements more.
inline constexpr size_t decode_padding = 16;
struct SymbolBlock {
  ByteSpan codes;
  std::span<uint16_t> symbols;
};
inline constexpr size_t decode_side_by_side = 4;
// Blocks of one codebook, at most decode_side_by_side.
// Errors: corrupt when codes end before the symbols do, when bytes are left over, or where no code fits.
Status decode_symbols(std::span<const SymbolBlock> blocks, const DecodeTable& table);

}  // namespace neve::stream
