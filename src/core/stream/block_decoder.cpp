// SPDX-License-Identifier: BSD-3-Clause
// Codes of several blocks are decoded side by side; prediction goes block by block.
#include "core/stream/block_decoder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <mutex>

#include "core/kernels/row_kernels.hpp"
#include "core/stages/entropy/bit_io.hpp"
#include "core/stream/chunk.hpp"
#include "core/stream/residual_classes.hpp"

namespace neve::stream {

namespace {

const DecodeTable& offline_table(size_t number) {
  static std::mutex mutex;
  static std::vector<std::unique_ptr<DecodeTable>> tables(offline_codebooks().size());
  const std::lock_guard lock(mutex);
  if (tables[number] == nullptr) tables[number] = std::make_unique<DecodeTable>(offline_codebooks()[number]);
  return *tables[number];
}

}  // namespace

Result<Payload> read_payload(const WholeBlock& whole) {
  const BlockHeader& block = whole.header;
  Payload p;
  ByteReader in(whole.bytes.subspan(block_header_bytes));
  if (block.has_step) {
    p.bound_abs = in.get<double>();
    p.step = in.get<double>();
    if (!(*p.bound_abs >= 0) || !std::isfinite(*p.bound_abs) || !(p.step >= 0) || !std::isfinite(p.step)) {
      return corrupt(
          fmt::format("block: bound {} and step {}, must be finite and not negative", *p.bound_abs, p.step));
    }
  }
  if (block.codebook == CodebookKind::rebuilt) {
    NEVE_ASSIGN(p.codebook, read_codebook(in));
  }
  if (block.is_raw) {
    p.raw = in.get_bytes(in.remaining());
    return p;
  }
  const uint64_t extra_bytes = block.has_extra_bits ? in.get<uint32_t>() : 0;
  if (in.failed() || in.remaining() < extra_bytes + block.side_bytes) {
    return corrupt(fmt::format("block: {} bytes of extra bits and {} of the side stream, more than it has",
                               extra_bytes, block.side_bytes));
  }
  p.codes = in.get_bytes(in.remaining() - extra_bytes - block.side_bytes);
  p.extra = in.get_bytes(extra_bytes);
  p.side = in.get_bytes(block.side_bytes);
  return p;
}

namespace {

constexpr auto residual_classes = [] {
  std::array<ResidualClass, wide_symbol_count> classes{};
  for (uint32_t s = 1; s < wide_symbol_count; ++s) classes[s] = residual_class(s);
  return classes;
}();

template <class T>
class TypedDecoder final : public BlockDecoder {
 public:
  explicit TypedDecoder(const Header& header)
      : fill_(header.fill), history_(header.dims, header.line, header.lines_per_plane) {}

  Status decode(std::span<const WholeBlock> blocks, std::byte* out) override {
    if (blocks[0].header.is_raw) return decode_raw(blocks[0], reinterpret_cast<T*>(out));
    std::array<Payload, decode_side_by_side> payloads;
    std::array<SymbolBlock, decode_side_by_side> codes;
    for (size_t b = 0; b < blocks.size(); ++b) {
      NEVE_ASSIGN(payloads[b], read_payload(blocks[b]));
      // Paid for: every symbol takes a bit of the payload at least.
      symbols_[b].resize(blocks[b].header.symbols + std::max(decode_padding, row_padding));
      codes[b] = {payloads[b].codes, std::span(symbols_[b]).first(blocks[b].header.symbols)};
    }
    if (blocks[0].header.codebook == CodebookKind::rebuilt) {
      own_table_ = std::make_unique<DecodeTable>(*payloads[0].codebook);
      table_ = own_table_.get();
    } else if (blocks[0].header.codebook == CodebookKind::offline) {
      table_ = &offline_table(blocks[0].header.offline_codebook);
    }
    NEVE_TRY(decode_symbols(std::span(codes).first(blocks.size()), *table_));
    T* values = reinterpret_cast<T*>(out);
    for (size_t b = 0; b < blocks.size(); ++b) {
      NEVE_TRY(decode_block(blocks[b].header, payloads[b], symbols_[b].data(), values));
      values += blocks[b].header.values;
    }
    return {};
  }

 private:
  // What is left of a block's symbols, extra bits and side stream.
  struct Cursor {
    const uint16_t* symbol;
    const uint16_t* symbol_end;
    ByteReader side;
    std::optional<BitReader> extra;  // where symbols are of classes
    uint32_t run_left = 0;
    T run_value = 0;
  };

  void begin_block(const BlockHeader& block, const Payload& payload) {
    if (block.has_step) {
      quantizer_ = stream_quantizer<T>(*payload.bound_abs, payload.step, fill_);
    }
    if (block.restarts) {
      history_.restart();
      hold_ = 0;
    }
  }

  Status decode_raw(const WholeBlock& block, T* out) {
    NEVE_ASSIGN(const Payload payload, read_payload(block));
    begin_block(block.header, payload);
    std::memcpy(out, payload.raw.data(), payload.raw.size());
    for (uint64_t left = block.header.values; left > 0;) {
      const History::Segment segment = history_.next(left);
      QuantizeStats<T> ignored;
      quantize(out, segment.count, quantizer_, segment.quant_codes, ignored);
      hold_ = hold_rejected(segment.quant_codes, segment.count, hold_);
      history_.advance(segment);
      out += segment.count;
      left -= segment.count;
    }
    return {};
  }

  Status decode_block(const BlockHeader& block, const Payload& payload, const uint16_t* symbols, T* out) {
    begin_block(block, payload);
    Cursor cursor{symbols, symbols + block.symbols, ByteReader(payload.side), {}};
    if (block.has_extra_bits) cursor.extra.emplace(payload.extra);
    for (uint64_t left = block.values; left > 0;) {
      const History::Segment segment = history_.next(left);
      const size_t n = segment.count;
      EscapeList none;
      const bool is_plain = cursor.run_left == 0 &&
                            static_cast<size_t>(cursor.symbol_end - cursor.symbol) >= n &&
                            (cursor.extra ? restore_classed(segment, cursor, out)
                                          : row_kernels<T, uint16_t>().restore(
                                                one_row(out, n, segment.around, true, segment.quant_codes),
                                                {0, T{0}, quantizer_.step}, cursor.symbol, none) == 1);
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
    if (cursor.extra && !cursor.extra->is_at_end()) {
      return corrupt(
          fmt::format("block: {} bytes of extra bits, not what its symbols have", payload.extra.size()));
    }
    return {};
  }

  // With its extra bits. Not of the escape.
  static uint32_t next_residual(uint32_t symbol, Cursor& cursor) {
    if (!cursor.extra) return symbol - static_cast<uint32_t>(wide_symbol_zero);
    return classed_residual(symbol, *cursor.extra);
  }
  static uint32_t classed_residual(uint32_t symbol, BitReader& extra) {
    const ResidualClass& c = residual_classes[symbol];
    const uint32_t magnitude = c.least | static_cast<uint32_t>(extra.get(c.bits));
    return with_sign(magnitude, 0U - static_cast<uint32_t>(c.is_negative));
  }

  // What prediction along the row adds to the first residual.
  static uint32_t carry_into(const History::Segment& segment) {
    return static_cast<uint32_t>(segment.quant_codes[-1]) - portable::neighbour_sum(segment.around, -1);
  }

  // As the kernel restores a row of plain symbols: false, and nothing taken, where there is an escape.
  bool restore_classed(const History::Segment& segment, Cursor& cursor, T* out) {
    const size_t n = segment.count;
    BitReader extra = *cursor.extra;
    residuals_.resize(History::longest_segment + row_padding);
    for (size_t i = 0; i < n; ++i) {
      if (cursor.symbol[i] == wide_symbol_escape) return false;
      residuals_[i] = static_cast<int32_t>(classed_residual(cursor.symbol[i], extra));
    }
    cursor.extra = extra;
    residuals_[0] = static_cast<int32_t>(static_cast<uint32_t>(residuals_[0]) + carry_into(segment));
    kernels().unpredict(residuals_.data(), segment.around, true, n, segment.quant_codes);
    dequantize(segment.quant_codes, n, 0, QuantizationGrid<T>{.step = quantizer_.step}, out);
    return true;
  }

  // Values among which some come from the side stream.
  Status decode_mixed(const History::Segment& segment, Cursor& cursor, T* out) {
    uint32_t carry = carry_into(segment);
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
        const uint32_t residual = next_residual(cursor.symbol[-1], cursor);
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
  std::array<RawVector<uint16_t>, decode_side_by_side> symbols_;
  RawVector<int32_t> residuals_;
};

}  // namespace

std::unique_ptr<BlockDecoder> make_decoder(const Header& header) {
  if (header.dtype == DType::f32) return std::make_unique<TypedDecoder<float>>(header);
  return std::make_unique<TypedDecoder<double>>(header);
}

}  // namespace neve::stream
