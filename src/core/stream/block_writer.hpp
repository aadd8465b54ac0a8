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

// Appends the block to `out`. `codes` is scratch, of any contents.
template <class T>
void append_block(const Chunk<T>& chunk, const typename Chunk<T>::Block& block, const BlockCodebook& codebook,
                  const BlockStep& step, bool is_last, RawVector<std::byte>& codes, Bytes& out);

}  // namespace neve::stream
