// SPDX-License-Identifier: BSD-3-Clause
// Which codebooks a symbol stream uses, and how a section refers to them.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "core/bits/bytes.hpp"
#include "core/stages/entropy/huffman_code.hpp"
#include "core/stages/entropy/huffman_coder.hpp"
#include "neve/status.hpp"

namespace neve {

Histogram count_symbols(std::span<const uint8_t> symbols);

// Symbols counted by groups of neighbours: of each bit stream of huffman_encode so many blocks at a time.
inline constexpr size_t group_blocks = 8;
using GroupHistogram = std::array<uint16_t, symbol_count>;
struct GroupCounts {
  Histogram all{};
  std::vector<GroupHistogram> groups;
};
GroupCounts count_groups(std::span<const uint8_t> symbols);

// A codebook, and the symbols that it is for.
struct CountedCodebook {
  explicit CountedCodebook(const Histogram& symbols)
      : histogram(symbols), codebook(make_codebook(symbols)), bits(coded_bits(codebook, symbols)) {}
  Histogram histogram;
  Codebook codebook;
  uint64_t bits;  // that the symbols take
};

// Fields that are calm here and rough there get up to max_codebooks codebooks, and each block of
// codebook_block_symbols the one that suits it. block_codebook is empty where there is one.
struct CodebookChoice {
  std::vector<CountedCodebook> codebooks;
  std::vector<uint8_t> block_codebook;

  uint64_t bits() const;  // of the symbols and of what the codebooks take beside them
};
// `one`: of all symbols.
CodebookChoice choose_codebooks(std::span<const uint8_t> symbols, const CountedCodebook& one);
// The same by what is counted already, in a small part of the time: all blocks of a group have one codebook.
CodebookChoice choose_group_codebooks(const GroupCounts& counts, size_t symbol_total,
                                      const CountedCodebook& one);

struct CodebookSet {
  std::vector<Codebook> codebooks;
  std::vector<uint8_t> block_codebook;
};

// Writes how a section refers to its codebooks: for each, 0 and the codebook inline, or k for codebook k-1 of
// `shared`, which grows by what is new. Null `shared`: all inline. Returns the codebooks in order.
std::vector<Codebook> write_codebooks(std::span<const CountedCodebook> wanted,
                                      std::span<const uint8_t> block_codebook, std::vector<Codebook>* shared,
                                      ByteWriter& out);
// Errors: corrupt.
Result<CodebookSet> read_codebooks(ByteReader& in, const CodebookTable& shared, uint64_t symbol_total);

}  // namespace neve
