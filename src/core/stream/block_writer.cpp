// SPDX-License-Identifier: BSD-3-Clause
#include "core/stream/block_writer.hpp"

namespace neve::stream {

template <class T>
void append_block(const Chunk<T>& chunk, const typename Chunk<T>::Block& block, const BlockCodebook& codebook,
                  const BlockStep& step, bool is_last, RawVector<std::byte>& codes, Bytes& out) {
  BlockHeader header;
  header.codebook = codebook.kind;
  header.offline_codebook = codebook.kind == CodebookKind::offline ? codebook.offline_codebook : 0;
  header.restarts = block.restarts;
  header.has_step = block.has_step;
  header.is_last = is_last;
  header.values = block.values;
  header.symbols = block.symbols;
  header.side_bytes = block.side_bytes;
  const size_t begin = out.size();
  out.resize(begin + block_header_bytes);
  if (block.has_step) {
    ByteWriter w(out);
    w.put(step.bound_abs);
    w.put(step.step);
  }
  if (codebook.kind == CodebookKind::rebuilt) write_codebook(*codebook.rebuilt, out);
  codes.resize(coded_bytes_limit(block.symbols));
  const size_t coded = encode_symbols(chunk.symbols(block), *codebook.codes, codes.data());
  const ByteSpan side = chunk.side(block);
  out.insert(out.end(), codes.data(), codes.data() + coded);
  out.insert(out.end(), side.begin(), side.end());
  header.payload_bytes = static_cast<uint32_t>(out.size() - begin - block_header_bytes);
  write_block_header(header, out.data() + begin);
}

template void append_block<float>(const Chunk<float>&, const Chunk<float>::Block&, const BlockCodebook&,
                                  const BlockStep&, bool, RawVector<std::byte>&, Bytes&);
template void append_block<double>(const Chunk<double>&, const Chunk<double>::Block&, const BlockCodebook&,
                                   const BlockStep&, bool, RawVector<std::byte>&, Bytes&);

}  // namespace neve::stream
