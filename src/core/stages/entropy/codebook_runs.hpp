// SPDX-License-Identifier: BSD-3-Clause
// Neighbouring blocks of symbols that share a codebook.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

#include "core/stages/entropy/huffman_coder.hpp"

namespace neve {

// Neighbours that have one codebook.
struct CodebookRun {
  size_t codebook = 0;
  size_t count = 0;
};

// From symbol `at` on; none behind `end`.
inline CodebookRun run_at(std::span<const uint8_t> block_codebook, size_t at, size_t end) {
  if (block_codebook.empty() || at >= end) return {0, end - at};
  size_t block = at / codebook_block_symbols;
  const uint8_t codebook = block_codebook[block];
  while ((block + 1) * codebook_block_symbols < end && block_codebook[block + 1] == codebook) ++block;
  return {codebook, std::min((block + 1) * codebook_block_symbols, end) - at};
}

}  // namespace neve
