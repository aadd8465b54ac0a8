// SPDX-License-Identifier: BSD-3-Clause
#include "core/stream/block_writer.hpp"

#include <array>
#include <cstring>

namespace neve::stream {

namespace {

// Bits on their way to memory, in registers: what is written to bytes might otherwise be any of its members.
class ExtraBitSink {
 public:
  explicit ExtraBitSink(std::byte* begin) : at_(begin) {}
  void put(const ClassedResidual& c) {
    bits_ |= uint64_t{c.extra} << held_;
    held_ += c.bits;
    std::memcpy(at_, &bits_, sizeof bits_);
    at_ += held_ / 8;
    bits_ >>= held_ / 8 * 8;
    held_ %= 8;
  }
  std::byte* end() const { return at_ + (held_ > 0 ? 1 : 0); }

 private:
  std::byte* at_;
  uint64_t bits_ = 0;
  unsigned held_ = 0;  // below 8 between calls
};

constexpr auto classes_of_symbols = [] {
  std::array<ClassedResidual, wide_symbol_count> made{};
  for (size_t s = 1; s < made.size(); ++s) {
    made[s] = classed(static_cast<int32_t>(s) - static_cast<int32_t>(wide_symbol_zero));
  }
  return made;
}();

// The block's symbols as classes, with their extra bits beside them.
template <class T>
std::span<const uint16_t> class_symbols(const Chunk<T>& chunk, const typename Chunk<T>::Block& block,
                                        BlockScratch& scratch) {
  const std::span<const uint16_t> symbols = chunk.symbols(block);
  scratch.symbols.resize(symbols.size());
  scratch.extra.resize(symbols.size() * sizeof(uint32_t) + sizeof(uint64_t));
  ExtraBitSink sink(scratch.extra.data());
  const int32_t* escape = chunk.escapes(block).data();
  uint16_t* out = scratch.symbols.data();
  for (const uint16_t symbol : symbols) {
    const ClassedResidual c = symbol == wide_symbol_escape ? classed(*escape++) : classes_of_symbols[symbol];
    *out++ = c.symbol;
    sink.put(c);
  }
  scratch.extra.resize(static_cast<size_t>(sink.end() - scratch.extra.data()));
  return scratch.symbols;
}

template <class T>
BlockHeader header_of(const typename Chunk<T>::Block& block, bool is_last) {
  BlockHeader header;
  header.restarts = block.restarts;
  header.has_step = block.has_step;
  header.is_last = is_last;
  header.values = block.values;
  return header;
}

void put_step(const BlockStep& step, Bytes& out) {
  ByteWriter w(out);
  w.put(step.bound_abs);
  w.put(step.step);
}

// Puts the header in front of the payload that stands behind its room.
void put_header(BlockHeader& header, size_t begin, Bytes& out) {
  header.payload_bytes = static_cast<uint32_t>(out.size() - begin - block_header_bytes);
  write_block_header(header, out.data() + begin);
}

}  // namespace

template <class T>
void append_block(const Chunk<T>& chunk, const typename Chunk<T>::Block& block, const BlockCodebook& codebook,
                  const BlockStep& step, bool has_extra_bits, bool is_last, BlockScratch& scratch,
                  Bytes& out) {
  const std::span<const uint16_t> symbols =
      has_extra_bits ? class_symbols(chunk, block, scratch) : chunk.symbols(block);
  const ByteSpan side = has_extra_bits ? chunk.classed_side(block) : chunk.side(block);
  BlockHeader header = header_of<T>(block, is_last);
  header.codebook = codebook.kind;
  header.offline_codebook = codebook.kind == CodebookKind::offline ? codebook.offline_codebook : 0;
  header.has_extra_bits = has_extra_bits;
  header.symbols = block.symbols;
  header.side_bytes = static_cast<uint32_t>(side.size());
  const size_t begin = out.size();
  out.resize(begin + block_header_bytes);
  if (block.has_step) put_step(step, out);
  if (codebook.kind == CodebookKind::rebuilt) write_codebook(*codebook.rebuilt, out);
  if (has_extra_bits) ByteWriter(out).put(static_cast<uint32_t>(scratch.extra.size()));
  scratch.codes.resize(coded_bytes_limit(block.symbols));
  const size_t coded = encode_symbols(symbols, *codebook.codes, scratch.codes.data());
  out.insert(out.end(), scratch.codes.data(), scratch.codes.data() + coded);
  if (has_extra_bits) out.insert(out.end(), scratch.extra.begin(), scratch.extra.end());
  out.insert(out.end(), side.begin(), side.end());
  put_header(header, begin, out);
}

template <class T>
void append_raw_block(const Chunk<T>& chunk, std::span<const typename Chunk<T>::Block> blocks,
                      const BlockStep& step, bool is_last, Bytes& out) {
  BlockHeader header = header_of<T>(blocks.front(), is_last);
  header.is_raw = true;
  header.values = 0;
  const size_t begin = out.size();
  out.resize(begin + block_header_bytes);
  if (header.has_step) put_step(step, out);
  for (const auto& block : blocks) {
    header.values += block.values;
    const std::span<const T> values = chunk.raw(block);
    ByteWriter(out).put_bytes(values.data(), values.size_bytes());
  }
  put_header(header, begin, out);
}

void append_empty_last_block(Bytes& out) {
  BlockHeader last;
  last.is_last = true;
  const size_t begin = out.size();
  out.resize(begin + block_header_bytes);
  put_header(last, begin, out);
}

template void append_block<float>(const Chunk<float>&, const Chunk<float>::Block&, const BlockCodebook&,
                                  const BlockStep&, bool, bool, BlockScratch&, Bytes&);
template void append_block<double>(const Chunk<double>&, const Chunk<double>::Block&, const BlockCodebook&,
                                   const BlockStep&, bool, bool, BlockScratch&, Bytes&);
template void append_raw_block<float>(const Chunk<float>&, std::span<const Chunk<float>::Block>,
                                      const BlockStep&, bool, Bytes&);
template void append_raw_block<double>(const Chunk<double>&, std::span<const Chunk<double>::Block>,
                                       const BlockStep&, bool, Bytes&);

}  // namespace neve::stream
