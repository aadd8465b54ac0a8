// SPDX-License-Identifier: BSD-3-Clause
// Streams back into values: headers, and blocks as they come, which core/stream/block_decoder.cpp decodes.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "core/format/frame_header.hpp"
#include "core/status/guarded.hpp"
#include "core/stream/block_decoder.hpp"
#include "core/threads/float_environment.hpp"
#include "core/threads/scratch.hpp"
#include "neve/stream.hpp"

namespace neve {

namespace {

using stream::BlockDecoder;
using stream::BlockHeader;
using stream::Header;
using stream::Payload;
using stream::WholeBlock;

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
    if (block.header.values > 0 && !block.header.is_raw) {
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
    if (const uint64_t slice = stream::slice_values(header.shape);
        has_ended_ && !total && values_ % slice != 0) {
      return corrupt(fmt::format("stream: ends after {} values, no multiple of {}", values_, slice));
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

// The next blocks that are whole in `bytes` and can be decoded together; fewer when they are not there yet.
// Advances `bytes` behind them.
Result<size_t> take_blocks(ByteSpan& bytes, const Header& header, BlockSequence& sequence,
                           std::span<WholeBlock, stream::decode_side_by_side> blocks) {
  size_t count = 0;
  while (count < blocks.size() && bytes.size() >= stream::block_header_bytes) {
    NEVE_ASSIGN(const BlockHeader block, stream::read_block_header(bytes, header));
    // A new codebook starts a new group; a raw block is one by itself.
    const bool is_raw_group = count > 0 && blocks[0].header.is_raw;
    if (count > 0 &&
        (block.codebook != CodebookKind::kept || block.values == 0 || block.is_raw || is_raw_group))
      break;
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
  return {header.dtype, header.shape,        header.asked, header.fill,
          header.dims,  header.block_values, header.is_raw};
}

// The slowest size, where it was open until now.
void close_shape(StreamInfo& info, uint64_t values) {
  if (info.shape.empty() || info.shape[0] != 0) return;
  info.shape[0] = values / stream::slice_values(info.shape);
}

// The values of a raw stream, whose bytes are all there.
Result<ByteSpan> raw_values(const Header& header, uint64_t header_bytes, ByteSpan whole) {
  const uint64_t size = stream::raw_value_bytes(header);
  const uint64_t expected = header_bytes + size + stream::stream_checksum_bytes;
  if (whole.size() < expected) return corrupt("raw stream: ends before its checksum");
  if (whole.size() > expected) return corrupt("stream: bytes behind its last value");
  NEVE_TRY(stream::check_raw_stream(whole));
  return whole.subspan(header_bytes, size);
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
  Bytes raw;  // of a raw stream: its header, and what has come of it
  size_t raw_header_bytes = 0;
  bool raw_has_ended = false;
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
      info = info_of(*header);
      if (header->is_raw) {
        raw.assign(bytes.begin(), bytes.begin() + static_cast<ptrdiff_t>(*size));
        raw_header_bytes = *size;
      } else {
        decoder = stream::make_decoder(*header);
      }
      bytes = bytes.subspan(*size);
    }
    if (header->is_raw) return take_raw(bytes);
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

  // Nothing is given before the checksum, which comes last.
  Status take_raw(ByteSpan& bytes) {
    if (raw_has_ended) return bytes.empty() ? Status() : corrupt("stream: bytes behind its last value");
    raw.insert(raw.end(), bytes.begin(), bytes.end());
    bytes = {};
    const uint64_t rest = stream::raw_value_bytes(*header) + stream::stream_checksum_bytes;
    if (raw.size() < raw_header_bytes + rest) return {};
    NEVE_ASSIGN(const ByteSpan values, raw_values(*header, raw_header_bytes, raw));
    output.insert(output.end(), values.begin(), values.end());
    raw = {};
    raw_has_ended = true;
    return {};
  }

  bool has_ended() const { return raw_has_ended || sequence.has_ended(); }
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
bool StreamDecoder::has_ended() const { return state_->has_ended(); }
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
  if (header.is_raw) {
    if (const auto values = raw_values(header, bytes.size() - rest.size(), bytes); !values.ok())
      return values.status();
    contents.values = stream::product(header.shape);
    return contents;
  }
  BlockSequence sequence;
  double bound_abs = 0;
  std::array<WholeBlock, stream::decode_side_by_side> blocks;
  while (!sequence.has_ended()) {
    NEVE_ASSIGN(const size_t count, take_blocks(rest, header, sequence, blocks));
    if (count == 0) return corrupt("stream: ends before its last block");
    for (const WholeBlock& block : std::span(blocks).first(count)) {
      if (block.header.values == 0) continue;
      NEVE_ASSIGN(const Payload payload, stream::read_payload(block));
      bound_abs = payload.bound_abs.value_or(bound_abs);
      const bool is_offline = block.header.codebook == CodebookKind::offline;
      contents.blocks.push_back({block.header.values, block.bytes.size(), block.header.codebook,
                                 is_offline ? block.header.offline_codebook : -1, block.header.restarts,
                                 bound_abs, block.header.has_extra_bits, block.header.is_raw});
    }
  }
  if (!rest.empty()) return corrupt("stream: bytes behind its last block");
  contents.values = sequence.values();
  close_shape(contents.info, contents.values);
  return contents;
}

Status check_room(uint64_t value_bytes, uint64_t out_bytes) {
  if (value_bytes == out_bytes) return {};
  return usage_error(fmt::format("stream: {} bytes of values for room of {}", value_bytes, out_bytes));
}

Status decode_whole(ByteSpan bytes, std::byte* out, uint64_t out_bytes) {
  if (out == nullptr && out_bytes > 0) {
    return usage_error(fmt::format("stream: output is null for {} bytes", out_bytes));
  }
  const FloatEnvironment environment;
  ByteSpan rest = bytes;
  NEVE_ASSIGN(const Header header, read_whole_header(rest));
  if (header.is_raw) {
    NEVE_ASSIGN(const ByteSpan values, raw_values(header, bytes.size() - rest.size(), bytes));
    NEVE_TRY(check_room(values.size(), out_bytes));
    if (!values.empty()) std::memcpy(out, values.data(), values.size());
    return {};
  }
  const std::unique_ptr<BlockDecoder> decoder = stream::make_decoder(header);
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
  return check_room(written, out_bytes);
}

}  // namespace

Result<StreamContents> describe_stream(Span<const std::byte> bytes) {
  return guarded("reading a stream", [&] { return read_contents(bytes); });
}

Status decode_stream(Span<const std::byte> bytes, std::byte* out, uint64_t out_bytes) {
  return guarded("decoding a stream", [&] { return decode_whole(bytes, out, out_bytes); });
}

}  // namespace neve
