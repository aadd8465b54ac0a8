// SPDX-License-Identifier: BSD-3-Clause
// Blocks back into values. Codes of several blocks are decoded side by side; prediction goes block by block.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <mutex>

#include "core/format/frame_header.hpp"
#include "core/kernels/stream_kernels.hpp"
#include "core/status/guarded.hpp"
#include "core/stream/chunk.hpp"
#include "core/stream/symbol_coder.hpp"
#include "core/threads/float_environment.hpp"
#include "neve/stream.hpp"

namespace neve {

namespace {

using stream::BlockHeader;
using stream::Codebook;
using stream::DecodeTable;
using stream::Header;
using stream::History;
using stream::SymbolBlock;

const DecodeTable& offline_table(size_t number) {
  static std::mutex mutex;
  static std::vector<std::unique_ptr<DecodeTable>> tables(stream::offline_codebooks().size());
  const std::lock_guard lock(mutex);
  if (tables[number] == nullptr)
    tables[number] = std::make_unique<DecodeTable>(stream::offline_codebooks()[number]);
  return *tables[number];
}

// The parts of a block's payload.
struct Payload {
  std::optional<double> bound_abs;
  double step = 0;
  std::optional<Codebook> codebook;
  ByteSpan codes;
  ByteSpan side;
};

Result<Payload> read_payload(const BlockHeader& block, ByteSpan whole) {
  Payload p;
  ByteReader in(whole.subspan(stream::block_header_bytes));
  if (block.has_step) {
    p.bound_abs = in.get<double>();
    p.step = in.get<double>();
    if (!(*p.bound_abs >= 0) || !std::isfinite(*p.bound_abs) || !(p.step >= 0) || !std::isfinite(p.step)) {
      return corrupt(
          fmt::format("block: bound {} and step {}, must be finite and not negative", *p.bound_abs, p.step));
    }
  }
  if (block.codebook == CodebookKind::rebuilt) {
    NEVE_ASSIGN(p.codebook, stream::read_codebook(in));
  }
  if (in.remaining() < block.side_bytes) return corrupt("block: its side stream is longer than the block");
  p.codes = in.get_bytes(in.remaining() - block.side_bytes);
  p.side = in.get_bytes(block.side_bytes);
  return p;
}

// A block cut out of the stream.
struct WholeBlock {
  BlockHeader header;
  ByteSpan bytes;  // header and payload
};

// Checks what a block claims of its place in the stream, and its checksum.
class BlockSequence {
 public:
  Status check(const WholeBlock& block, const Header& header) {
    if (has_ended_) return corrupt("stream: a block after the last one");
    NEVE_TRY(stream::check_block(block.header, block.bytes));
    if (values_ == 0 && block.header.values > 0 && (!block.header.restarts || !block.header.has_step)) {
      return corrupt("stream: its first block has no step, or predicts from values that do not exist");
    }
    if (block.header.values == 0 && !block.header.is_last) return corrupt("block: without values");
    if (block.header.values > 0) {
      if (!has_codebook_ && block.header.codebook == CodebookKind::kept) {
        return corrupt("block: keeps a codebook where there is none yet");
      }
      has_codebook_ = true;
    }
    values_ += block.header.values;
    has_ended_ = block.header.is_last;
    const std::optional<uint64_t> total = header.value_total();
    if (values_ > total.value_or(max_elements)) {
      return corrupt(fmt::format("stream: more than its {} values", total.value_or(max_elements)));
    }
    if (has_ended_ && total && values_ != *total) {
      return corrupt(fmt::format("stream: ends after {} of {} values", values_, *total));
    }
    if (has_ended_ && !total) {
      uint64_t inner = 1;
      for (size_t d = 1; d < header.shape.size(); ++d) inner *= header.shape[d];
      if (values_ % inner != 0) {
        return corrupt(fmt::format("stream: ends after {} values, no multiple of {}", values_, inner));
      }
    }
    return {};
  }
  bool has_ended() const { return has_ended_; }
  uint64_t values() const { return values_; }

 private:
  bool has_ended_ = false;
  bool has_codebook_ = false;
  uint64_t values_ = 0;
};

class BlockDecoder {
 public:
  virtual ~BlockDecoder() = default;
  // Up to decode_side_by_side blocks that have passed BlockSequence, the ones behind the first with kept
  // codebooks; `out` has room for their values.
  virtual Status decode(std::span<const WholeBlock> blocks, std::byte* out) = 0;
};

template <class T>
class TypedDecoder final : public BlockDecoder {
 public:
  explicit TypedDecoder(const Header& header)
      : fill_(header.fill), history_(header.dims, header.line, header.lines_per_plane) {}

  Status decode(std::span<const WholeBlock> blocks, std::byte* out) override {
    std::array<Payload, stream::decode_side_by_side> payloads;
    std::array<SymbolBlock, stream::decode_side_by_side> codes;
    for (size_t b = 0; b < blocks.size(); ++b) {
      NEVE_ASSIGN(payloads[b], read_payload(blocks[b].header, blocks[b].bytes));
      // Paid for: every symbol takes a bit of the payload at least.
      symbols_[b].resize(blocks[b].header.symbols + std::max(stream::decode_padding, row_padding));
      codes[b] = {payloads[b].codes, std::span(symbols_[b]).first(blocks[b].header.symbols)};
    }
    if (blocks[0].header.codebook == CodebookKind::rebuilt) {
      own_table_ = std::make_unique<DecodeTable>(*payloads[0].codebook);
      table_ = own_table_.get();
    } else if (blocks[0].header.codebook == CodebookKind::offline) {
      table_ = &offline_table(blocks[0].header.offline_codebook);
    }
    NEVE_TRY(stream::decode_symbols(std::span(codes).first(blocks.size()), *table_));
    T* values = reinterpret_cast<T*>(out);
    for (size_t b = 0; b < blocks.size(); ++b) {
      NEVE_TRY(decode_block(blocks[b].header, payloads[b], symbols_[b].data(), values));
      values += blocks[b].header.values;
    }
    return {};
  }

 private:
  // What is left of a block's symbols and side stream.
  struct Cursor {
    const uint16_t* symbol;
    const uint16_t* symbol_end;
    ByteReader side;
    uint32_t run_left = 0;
    T run_value = 0;
  };

  Status decode_block(const BlockHeader& block, const Payload& payload, const uint16_t* symbols, T* out) {
    if (block.has_step) {
      quantizer_ = stream::stream_quantizer<T>(*payload.bound_abs, payload.step, fill_);
    }
    if (block.restarts) {
      history_.restart();
      hold_ = 0;
    }
    Cursor cursor{symbols, symbols + block.symbols, ByteReader(payload.side)};
    const StreamRowKernels<T>& rows = stream_row_kernels<T>();
    for (uint64_t left = block.values; left > 0;) {
      const History::Segment segment = history_.next(left);
      const size_t n = segment.count;
      const bool is_plain =
          cursor.run_left == 0 && static_cast<size_t>(cursor.symbol_end - cursor.symbol) >= n &&
          !rows.restore(cursor.symbol, n, segment.around, quantizer_.step, segment.quant_codes, out);
      if (is_plain) {
        cursor.symbol += n;
        hold_ = segment.quant_codes[n - 1];
      } else {
        NEVE_TRY(decode_mixed(segment, cursor, out));
      }
      history_.advance(segment);
      out += n;
      left -= n;
    }
    if (cursor.symbol != cursor.symbol_end || cursor.side.remaining() != 0 || cursor.run_left != 0) {
      return corrupt("block: symbols or side bytes left over after its last value");
    }
    return {};
  }

  // Values among which some come from the side stream.
  Status decode_mixed(const History::Segment& segment, Cursor& cursor, T* out) {
    uint32_t carry =
        static_cast<uint32_t>(segment.quant_codes[-1]) - portable::neighbour_sum(segment.around, -1);
    for (size_t i = 0; i < segment.count; ++i) {
      const uint32_t neighbours = portable::neighbour_sum(segment.around, static_cast<ptrdiff_t>(i));
      if (cursor.run_left > 0) {
        --cursor.run_left;
        out[i] = cursor.run_value;
      } else if (cursor.symbol == cursor.symbol_end) {
        return corrupt("block: fewer symbols than values");
      } else if (*cursor.symbol++ == wide_symbol_escape) {
        NEVE_TRY(take_side(cursor, out[i]));
      } else {
        const uint32_t residual = uint32_t{cursor.symbol[-1]} - static_cast<uint32_t>(wide_symbol_zero);
        hold_ = static_cast<int32_t>(carry + residual + neighbours);
        out[i] = portable::dequantize_one(hold_, 0, T{0}, quantizer_.step);
      }
      segment.quant_codes[i] = hold_;
      carry = static_cast<uint32_t>(hold_) - neighbours;
    }
    return {};
  }

  // A value as it is. With a quantization code it is one that prediction missed by far; without, others like
  // it may follow.
  Status take_side(Cursor& cursor, T& value) {
    value = cursor.side.template get<T>();
    QuantizeStats<T> ignored;
    const int32_t quant_code = portable::quantize_one(value, quantizer_, ignored);
    if (quant_code != rejected_quant_code) {
      hold_ = quant_code;
    } else {
      cursor.run_value = value;
      cursor.run_left = cursor.side.template get<uint16_t>();
    }
    if (cursor.side.failed()) return corrupt("block: more escapes than side bytes");
    return {};
  }

  std::optional<double> fill_;
  History history_;
  Quantizer<T> quantizer_{};
  int32_t hold_ = 0;
  const DecodeTable* table_ = nullptr;
  std::unique_ptr<DecodeTable> own_table_;
  std::array<RawVector<uint16_t>, stream::decode_side_by_side> symbols_;
};

std::unique_ptr<BlockDecoder> make_decoder(const Header& header) {
  if (header.dtype == DType::f32) return std::make_unique<TypedDecoder<float>>(header);
  return std::make_unique<TypedDecoder<double>>(header);
}

// The next blocks that are whole in `bytes` and can be decoded together; fewer when they are not there yet.
// Advances `bytes` behind them.
Result<size_t> take_blocks(ByteSpan& bytes, const Header& header, BlockSequence& sequence,
                           std::span<WholeBlock, stream::decode_side_by_side> blocks) {
  size_t count = 0;
  while (count < blocks.size() && bytes.size() >= stream::block_header_bytes) {
    NEVE_ASSIGN(const BlockHeader block, stream::read_block_header(bytes, header));
    // A new codebook starts a new group.
    if (count > 0 && (block.codebook != CodebookKind::kept || block.values == 0)) break;
    const size_t size = stream::block_header_bytes + block.payload_bytes;
    if (bytes.size() < size) break;
    blocks[count] = {block, bytes.first(size)};
    NEVE_TRY(sequence.check(blocks[count], header));
    bytes = bytes.subspan(size);
    ++count;
    if (sequence.has_ended()) break;
  }
  return count;
}

uint64_t values_of(std::span<const WholeBlock> blocks) {
  uint64_t values = 0;
  for (const WholeBlock& block : blocks) values += block.header.values;
  return values;
}

StreamInfo info_of(const Header& header) {
  return {header.dtype, header.shape, header.asked, header.fill, header.dims, header.block_values};
}

// The slowest size, where it was open until now.
void close_shape(StreamInfo& info, uint64_t values) {
  if (info.shape.empty() || info.shape[0] != 0) return;
  uint64_t inner = 1;
  for (size_t d = 1; d < info.shape.size(); ++d) inner *= info.shape[d];
  info.shape[0] = values / inner;
}

// Header and position behind it.
Result<Header> read_whole_header(ByteSpan& bytes) {
  NEVE_ASSIGN(const std::optional<size_t> size, stream::header_bytes(bytes));
  if (!size || bytes.size() < *size) return corrupt("stream: ends inside its header");
  NEVE_ASSIGN(Header header, stream::read_header(bytes.first(*size)));
  bytes = bytes.subspan(*size);
  return header;
}

}  // namespace

struct StreamDecoder::State {
  std::optional<Header> header;
  StreamInfo info;
  BlockSequence sequence;
  std::unique_ptr<BlockDecoder> decoder;
  Bytes waiting;  // less than a block
  RawVector<std::byte> output;
  Status failed;

  Status take(ByteSpan& bytes) {
    if (!header) {
      NEVE_ASSIGN(const std::optional<size_t> size, stream::header_bytes(bytes));
      if (!size || bytes.size() < *size) return {};
      NEVE_ASSIGN(header, stream::read_header(bytes.first(*size)));
      bytes = bytes.subspan(*size);
      info = info_of(*header);
      decoder = make_decoder(*header);
    }
    std::array<WholeBlock, stream::decode_side_by_side> blocks;
    while (!sequence.has_ended()) {
      NEVE_ASSIGN(const size_t count, take_blocks(bytes, *header, sequence, blocks));
      if (count == 0) return {};
      const auto group = std::span(blocks).first(count);
      const size_t begin = output.size();
      const uint64_t values = values_of(group);
      if (values == 0) continue;
      output.resize(begin + values * dtype_bytes(header->dtype));
      if (Status s = decoder->decode(group, output.data() + begin); !s.ok()) {
        output.resize(begin);
        return s;
      }
    }
    close_shape(info, sequence.values());
    if (!bytes.empty()) return corrupt("stream: bytes behind its last block");
    return {};
  }
};

StreamDecoder::StreamDecoder() : state_(std::make_unique<State>()) {}
StreamDecoder::StreamDecoder(StreamDecoder&&) noexcept = default;
StreamDecoder& StreamDecoder::operator=(StreamDecoder&&) noexcept = default;
StreamDecoder::~StreamDecoder() = default;

Status StreamDecoder::push(Span<const std::byte> bytes) {
  State& s = *state_;
  NEVE_TRY(s.failed);
  const FloatEnvironment environment;
  s.failed = guarded("decoding a stream", [&]() -> Status {
    const bool had_waiting = !s.waiting.empty();
    if (had_waiting) s.waiting.insert(s.waiting.end(), bytes.begin(), bytes.end());
    ByteSpan rest = had_waiting ? ByteSpan(s.waiting) : ByteSpan(bytes);
    NEVE_TRY(s.take(rest));
    if (had_waiting) {
      s.waiting.erase(s.waiting.begin(), s.waiting.end() - static_cast<ptrdiff_t>(rest.size()));
    } else {
      s.waiting.assign(rest.begin(), rest.end());
    }
    return {};
  });
  return s.failed;
}

Status StreamDecoder::finish() const {
  NEVE_TRY(state_->failed);
  if (!has_ended()) return corrupt("stream: ends before its last block");
  return {};
}

bool StreamDecoder::has_info() const { return state_->header.has_value(); }
const StreamInfo& StreamDecoder::info() const { return state_->info; }
bool StreamDecoder::has_ended() const { return state_->sequence.has_ended(); }
Span<const std::byte> StreamDecoder::output() const { return state_->output; }
void StreamDecoder::clear_output() { state_->output.clear(); }

bool is_stream(Span<const std::byte> bytes) {
  constexpr size_t magic_bytes = 4;
  return bytes.size() >= magic_bytes && stream::header_bytes(bytes.first(magic_bytes)).ok();
}

namespace {

Result<StreamContents> read_contents(ByteSpan bytes) {
  ByteSpan rest = bytes;
  NEVE_ASSIGN(const Header header, read_whole_header(rest));
  StreamContents contents;
  contents.info = info_of(header);
  BlockSequence sequence;
  double bound_abs = 0;
  std::array<WholeBlock, stream::decode_side_by_side> blocks;
  while (!sequence.has_ended()) {
    NEVE_ASSIGN(const size_t count, take_blocks(rest, header, sequence, blocks));
    if (count == 0) return corrupt("stream: ends before its last block");
    for (const WholeBlock& block : std::span(blocks).first(count)) {
      if (block.header.values == 0) continue;
      NEVE_ASSIGN(const Payload payload, read_payload(block.header, block.bytes));
      bound_abs = payload.bound_abs.value_or(bound_abs);
      const bool is_offline = block.header.codebook == CodebookKind::offline;
      contents.blocks.push_back({block.header.values, block.bytes.size(), block.header.codebook,
                                 is_offline ? block.header.offline_codebook : -1, block.header.restarts,
                                 bound_abs});
    }
  }
  if (!rest.empty()) return corrupt("stream: bytes behind its last block");
  contents.values = sequence.values();
  close_shape(contents.info, contents.values);
  return contents;
}

Status decode_whole(ByteSpan bytes, std::byte* out, uint64_t out_bytes) {
  if (out == nullptr && out_bytes > 0) {
    return usage_error(fmt::format("stream: output is null for {} bytes", out_bytes));
  }
  const FloatEnvironment environment;
  ByteSpan rest = bytes;
  NEVE_ASSIGN(const Header header, read_whole_header(rest));
  const std::unique_ptr<BlockDecoder> decoder = make_decoder(header);
  BlockSequence sequence;
  std::array<WholeBlock, stream::decode_side_by_side> blocks;
  const uint64_t value_bytes = dtype_bytes(header.dtype);
  uint64_t written = 0;
  while (!sequence.has_ended()) {
    NEVE_ASSIGN(const size_t count, take_blocks(rest, header, sequence, blocks));
    if (count == 0) return corrupt("stream: ends before its last block");
    const auto group = std::span(blocks).first(count);
    const uint64_t group_bytes = values_of(group) * value_bytes;
    if (group_bytes == 0) continue;
    if (group_bytes > out_bytes - written) {
      return usage_error(fmt::format("stream: its values do not fit into {} bytes", out_bytes));
    }
    NEVE_TRY(decoder->decode(group, out + written));
    written += group_bytes;
  }
  if (!rest.empty()) return corrupt("stream: bytes behind its last block");
  if (written != out_bytes) {
    return usage_error(fmt::format("stream: {} bytes of values for room of {}", written, out_bytes));
  }
  return {};
}

}  // namespace

Result<StreamContents> describe_stream(Span<const std::byte> bytes) {
  return guarded("reading a stream", [&] { return read_contents(bytes); });
}

Status decode_stream(Span<const std::byte> bytes, std::byte* out, uint64_t out_bytes) {
  return guarded("decoding a stream", [&] { return decode_whole(bytes, out, out_bytes); });
}

}  // namespace neve
