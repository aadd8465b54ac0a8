// SPDX-License-Identifier: BSD-3-Clause
#include "core/stream/chunk_writer.hpp"

#include <algorithm>

namespace neve::stream {

template <class T>
typename ChunkWriter<T>::Counts ChunkWriter<T>::all_counts(const Chunk<T>& chunk) {
  Counts counts;
  counts.direct = chunk.counts();
  counts.has_classes = chunk.has_classed_escapes();
  if (counts.has_classes) counts.classed = chunk.classed_counts();
  counts.side_bytes = chunk.side_bytes();
  counts.classed_side_bytes = chunk.classed_side_bytes();
  counts.blocks = chunk.blocks().size();
  return counts;
}

template <class T>
typename ChunkWriter<T>::Counts ChunkWriter<T>::block_counts(const Chunk<T>& chunk,
                                                             const typename Chunk<T>::Block& block) {
  Counts counts;
  counts.direct = chunk.counts(block);
  counts.has_classes = chunk.has_classed_escapes();
  if (counts.has_classes) counts.classed = chunk.classed_counts(block);
  counts.side_bytes = block.side_bytes;
  counts.classed_side_bytes = block.classed_side_bytes;
  counts.blocks = 1;
  return counts;
}

template <class T>
void ChunkWriter<T>::Counts::subtract(const Counts& other) {
  for (size_t s = 0; s < direct.size(); ++s) direct[s] -= other.direct[s];
  for (size_t s = 0; s < direct.size(); ++s) classed.counts[s] -= other.classed.counts[s];
  classed.extra_bits -= other.classed.extra_bits;
  side_bytes -= other.side_bytes;
  classed_side_bytes -= other.classed_side_bytes;
  blocks -= other.blocks;
}

// Classes decode at half the speed of symbols: they have to save this share.
constexpr double min_saved_share = 0.01;

// What is chosen last is the codebook to be written.
template <class T>
void ChunkWriter<T>::choose_codes(const Counts& counts, ChunkPlan& plan) {
  plan.codebook = codebooks_.choose(counts.direct);
  uint64_t bits = plan.codebook.bits + 8 * counts.side_bytes;
  plan.has_extra_bits = false;
  plan.extra_bits = 0;
  const auto enough = static_cast<uint64_t>(min_saved_share * static_cast<double>(bits));
  // They save what escapes have beside the codes, at most.
  if (counts.has_classes && 8 * (counts.side_bytes - counts.classed_side_bytes) > enough) {
    const CodebookChoice classed = codebooks_.choose(counts.classed.counts);
    const uint64_t classed_bits = classed.bits + counts.classed.extra_bits +
                                  8 * (counts.classed_side_bytes + counts.blocks * extra_count_bytes);
    plan.has_extra_bits = classed_bits + enough <= bits;
    if (plan.has_extra_bits) {
      plan.codebook = classed;
      plan.extra_bits = counts.classed.extra_bits;
      bits = classed_bits;
    } else {
      plan.codebook = codebooks_.choose(counts.direct);
    }
  }
  plan.bytes = (bits + 7) / 8 + counts.blocks * block_header_bytes;
}

// Of a block, beside header, step and codebook.
template <class T>
uint64_t ChunkWriter<T>::coded_bytes(const Counts& block, const ChunkPlan& plan) const {
  const Codebook& codebook = codebooks_.chosen(plan.codebook);
  if (!plan.has_extra_bits) return (coded_bits(codebook, block.direct) + 7) / 8 + block.side_bytes;
  return (coded_bits(codebook, block.classed.counts) + 7) / 8 + (block.classed.extra_bits + 7) / 8 +
         extra_count_bytes + block.classed_side_bytes;
}

// A block is raw where its codes take as much. The codebook is then chosen again, for what is left.
template <class T>
void ChunkWriter<T>::choose_raw(const Chunk<T>& chunk, ChunkPlan& plan) {
  const auto& blocks = chunk.blocks();
  Counts left = all_counts(chunk);
  uint64_t raw_bytes = 0;
  plan.is_raw.assign(blocks.size(), 0);
  for (size_t b = 0; b < blocks.size(); ++b) {
    const uint64_t raw = sizeof(T) * uint64_t{blocks[b].values};
    if (!blocks[b].has_raw) continue;
    const Counts own = block_counts(chunk, blocks[b]);
    if (coded_bytes(own, plan) < raw) continue;
    plan.is_raw[b] = 1;
    raw_bytes += raw + block_header_bytes;
    left.subtract(own);
  }
  if (left.blocks == blocks.size()) return plan.is_raw.clear();
  if (left.blocks > 0) choose_codes(left, plan);
  const bool may_all_be = std::all_of(blocks.begin(), blocks.end(), [](const auto& b) { return b.has_raw; });
  const uint64_t all_bytes = sizeof(T) * chunk.values() + block_header_bytes;
  plan.all_raw = left.blocks == 0 || (may_all_be && plan.bytes + raw_bytes >= all_bytes);
  if (plan.all_raw) plan.make_raw(blocks.size());
  plan.bytes = plan.all_raw ? all_bytes : plan.bytes + raw_bytes;
}

template <class T>
ChunkPlan ChunkWriter<T>::plan(const Chunk<T>& chunk) {
  ChunkPlan plan;
  choose_codes(all_counts(chunk), plan);
  const auto& blocks = chunk.blocks();
  if (std::any_of(blocks.begin(), blocks.end(), [](const auto& b) { return b.has_raw; })) {
    choose_raw(chunk, plan);
  }
  // Of a chunk the first block alone may have one.
  if (blocks.front().has_step) plan.bytes += step_bytes;
  return plan;
}

template <class T>
void ChunkWriter<T>::write(const Chunk<T>& chunk, const ChunkPlan& plan, const BlockStep& step, bool is_last,
                           Bytes& out) {
  const auto& blocks = chunk.blocks();
  const CodeTable* const codes = plan.all_raw ? nullptr : &codebooks_.take(plan.codebook);
  bool is_named = false;  // the codebook, by a block
  for (size_t b = 0; b < blocks.size();) {
    size_t end = b + 1;
    if (plan.block_is_raw(b)) {
      uint64_t values = blocks[b].values;
      while (end < blocks.size() && plan.block_is_raw(end) && !blocks[end].restarts &&
             !blocks[end].has_step && values + blocks[end].values <= max_raw_block_values) {
        values += blocks[end++].values;
      }
      append_raw_block<T>(chunk, std::span(blocks).subspan(b, end - b), step, is_last && end == blocks.size(),
                          out);
    } else {
      const BlockCodebook codebook{is_named ? CodebookKind::kept : plan.codebook.kind,
                                   plan.codebook.offline_codebook, &codebooks_.rebuilt(), codes};
      append_block(chunk, blocks[b], codebook, step, plan.has_extra_bits, is_last && end == blocks.size(),
                   scratch_, out);
      is_named = true;
    }
    b = end;
  }
}

template class ChunkWriter<float>;
template class ChunkWriter<double>;

}  // namespace neve::stream
