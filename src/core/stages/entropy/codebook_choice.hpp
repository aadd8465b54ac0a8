// SPDX-License-Identifier: BSD-3-Clause
// Which codebooks a symbol stream uses, and how a section refers to them.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/bits/bytes.hpp"
#include "core/stages/entropy/huffman_code.hpp"
#include "core/stages/entropy/huffman_coder.hpp"
#include "neve/status.hpp"
#include "neve/types.hpp"

namespace neve {

Histogram count_symbols(std::span<const uint8_t> symbols);

// One histogram for each codebook; block_codebook empty when there is one. Fields that are calm here and
// rough there get up to max_codebooks codebooks, and each block of codebook_block_symbols the one that suits
// it; not at effort fast.
struct CodebookChoice {
  std::vector<Histogram> histograms;
  std::vector<uint8_t> block_codebook;
};
CodebookChoice choose_codebooks(std::span<const uint8_t> symbols, const Histogram& all, Effort effort);

struct CodebookSet {
  std::vector<Codebook> codebooks;
  std::vector<uint8_t> block_codebook;
};

// Writes how a section with these histograms refers to codebooks: for each, 0 and the codebook inline, or k
// for codebook k-1 of `shared`, which grows by what is new. Null `shared`: all inline. Returns the codebooks
// in order.
std::vector<Codebook> write_codebooks(std::span<const Histogram> histograms,
                                      std::span<const uint8_t> block_codebook, std::vector<Codebook>* shared,
                                      ByteWriter& out);
// Errors: corrupt.
Result<CodebookSet> read_codebooks(ByteReader& in, const CodebookTable& shared, uint64_t symbol_total);

}  // namespace neve
