// SPDX-License-Identifier: BSD-3-Clause
// How a chunk is written in the fewest bytes: with which codebook, its residuals as classes with extra bits
// or not, and which blocks raw.
#pragma once

#include <vector>

#include "core/stream/block_writer.hpp"
#include "core/stream/chunk.hpp"
#include "core/stream/codebook_choice.hpp"

namespace neve::stream {

struct ChunkPlan {
  CodebookChoice codebook;  // of the blocks that are not raw; of no meaning where all are
  bool has_extra_bits = false;
  uint64_t extra_bits = 0;
  std::vector<uint8_t> is_raw;  // by block; empty: none is
  bool all_raw = false;
  uint64_t bytes = 0;  // of all blocks, but for where bits are rounded to bytes

  bool block_is_raw(size_t b) const { return !is_raw.empty() && is_raw[b] != 0; }
  void make_raw(size_t blocks) {
    all_raw = true;
    is_raw.assign(blocks, 1);
    has_extra_bits = false;
    extra_bits = 0;
  }
};

template <class T>
class ChunkWriter {
 public:
  explicit ChunkWriter(const Codebooks& codebooks) : codebooks_(codebooks) {}

  void reset() { codebooks_.reset(); }
  // Of a settled chunk with values. Changes nothing that is written.
  ChunkPlan plan(const Chunk<T>& chunk);
  // The last plan that was made, of this chunk: appends its blocks. Its codebook comes into force.
  void write(const Chunk<T>& chunk, const ChunkPlan& plan, const BlockStep& step, bool is_last, Bytes& out);

 private:
  // What is counted of blocks: as symbols of residuals and of classes.
  struct Counts {
    SymbolCounts direct{};
    ClassedCounts classed;
    bool has_classes = false;
    uint64_t side_bytes = 0;
    uint64_t classed_side_bytes = 0;
    uint64_t blocks = 0;

    void subtract(const Counts& other);
  };
  static Counts all_counts(const Chunk<T>& chunk);
  static Counts block_counts(const Chunk<T>& chunk, const typename Chunk<T>::Block& block);
  void choose_codes(const Counts& counts, ChunkPlan& plan);
  uint64_t coded_bytes(const Counts& block, const ChunkPlan& plan) const;
  void choose_raw(const Chunk<T>& chunk, ChunkPlan& plan);

  Codebooks codebooks_;
  BlockScratch scratch_;
};

}  // namespace neve::stream
