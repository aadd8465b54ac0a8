// SPDX-License-Identifier: BSD-3-Clause
// A block of a chunk as it stands in a stream (docs/format.md, "Stream").
#pragma once

#include "core/stream/chunk.hpp"
#include "core/stream/codebook.hpp"
#include "core/stream/stream_format.hpp"
#include "core/stream/symbol_coder.hpp"
#include "core/threads/scratch.hpp"

namespace neve::stream {

struct BlockCodebook {
  CodebookKind kind = CodebookKind::kept;
  uint8_t offline_codebook = 0;       // of kind offline
  const Codebook* rebuilt = nullptr;  // stands in the block where kind is rebuilt
  const CodeTable* codes = nullptr;   // its codes
};

// What a block that has_step says.
struct BlockStep {
  double bound_abs = 0;
  double step = 0;
};

// Of any contents, so that blocks share memory.
struct BlockScratch {
  RawVector<std::byte> codes;
  RawVector<uint16_t> symbols;
  RawVector<std::byte> extra;
};

// Appends the block to `out`, its residuals as classes where has_extra_bits.
template <class T>
void append_block(const Chunk<T>& chunk, const typename Chunk<T>::Block& block, const BlockCodebook& codebook,
                  const BlockStep& step, bool has_extra_bits, bool is_last, BlockScratch& scratch,
                  Bytes& out);

// Successive blocks that has_raw, of which none but the first restarts, as one.
template <class T>
void append_raw_block(const Chunk<T>& chunk, std::span<const typename Chunk<T>::Block> blocks,
                      const BlockStep& step, bool is_last, Bytes& out);

// The block that says that values which have left already were all.
void append_empty_last_block(Bytes& out);

}  // namespace neve::stream
