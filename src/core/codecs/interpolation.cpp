// SPDX-License-Identifier: BSD-3-Clause
// Codec `interpolation`: prediction from coarse to fine (stages/predict/interpolation.hpp), quantization
// codes in Huffman codes.
#include <fmt/format.h>

#include <cstdlib>
#include <utility>

#include "core/codecs/interpolation_fields.hpp"
#include "core/codecs/merged_rects.hpp"
#include "core/codecs/section_codec.hpp"
#include "core/codecs/symbol_coding.hpp"
#include "core/stages/entropy/escapes.hpp"

namespace neve {

namespace {

// The escape that says that an exact value follows: no quantization code reaches it.
constexpr int32_t exact_escape = residual_limit;

template <class T>
class SymbolRowEncoder {
 public:
  SymbolRowEncoder(InterpolationEncoder<T>& encoder, uint64_t cells)
      : encoder_(encoder), symbols_(take_symbols(cells + row_padding)) {}

  bool code(const ClassRow<T>& row) {
    quant_codes_.resize(row.count + row_padding);
    encoder_.quantize_row(row, quant_codes_.data());
    size_t coded = row.count;
    if (row.excluded != nullptr) {
      coded = 0;
      values_.resize(row.count);
      for (size_t i = 0; i < row.count; ++i) {
        quant_codes_[coded] = quant_codes_[i];
        values_[coded] = row.values[i];
        coded += row.excluded[i] == 0;
      }
    }
    const T* values = row.excluded != nullptr ? values_.data() : row.values;
    for (size_t i = 0; i < coded; ++i) {
      if (quant_codes_[i] != rejected_quant_code) continue;
      quant_codes_[i] = exact_escape;
      encoder_.list_exactly(values[i]);
    }
    if (escapes_.size() < escape_total_ + coded + row_padding) {
      escapes_.resize(std::max(2 * escapes_.size(), escape_total_ + coded + row_padding));
    }
    escape_total_ += kernels().pack(quant_codes_.data(), coded, 0, symbols_.data() + symbol_total_,
                                    escapes_.data() + escape_total_);
    symbol_total_ += coded;
    return true;
  }

  Symbols take() {
    symbols_.resize(symbol_total_);
    return std::move(symbols_);
  }
  std::vector<int32_t> take_escapes() {
    escapes_.resize(escape_total_);
    return std::move(escapes_);
  }

 private:
  InterpolationEncoder<T>& encoder_;
  Symbols symbols_;
  size_t symbol_total_ = 0;
  std::vector<int32_t> escapes_;
  size_t escape_total_ = 0;
  RawVector<int32_t> quant_codes_;
  RawVector<T> values_;
};

// Symbols, padded, and escapes; the anchors are not among the `coded` values.
struct StoredSymbols {
  Symbols symbols;
  std::vector<int32_t> escapes;
};

template <class T>
class SymbolRowDecoder {
 public:
  SymbolRowDecoder(InterpolationDecoder<T>& decoder, const StoredSymbols& stored)
      : decoder_(decoder), symbols_(stored.symbols), escapes_(stored.escapes) {}

  bool code(const ClassRow<T>& row) {
    quant_codes_.resize(row.count + row_padding);
    size_t coded = row.count;
    if (row.excluded != nullptr) {
      coded = static_cast<size_t>(std::count(row.excluded, row.excluded + row.count, uint8_t{0}));
    }
    if (coded > symbol_total() - symbol_at_) return false;
    const size_t used = kernels().unpack(symbols_.data() + symbol_at_, coded, 0, escapes_.subspan(escape_at_),
                                         quant_codes_.data());
    if (used == SIZE_MAX) return false;
    symbol_at_ += coded;
    escape_at_ += used;
    for (size_t i = 0; i < coded; ++i) {
      if (quant_codes_[i] == exact_escape) quant_codes_[i] = rejected_quant_code;
    }
    if (row.excluded != nullptr) {
      // From the end, so that nothing is overwritten before it has moved.
      for (size_t i = row.count; i-- > 0;) quant_codes_[i] = row.excluded[i] != 0 ? 0 : quant_codes_[--coded];
    }
    return decoder_.restore_row(row, quant_codes_.data());
  }
  bool is_at_end() const { return symbol_at_ == symbol_total(); }

 private:
  // The symbols are followed by padding that the kernels may read.
  size_t symbol_total() const { return symbols_.size() - row_padding; }

  InterpolationDecoder<T>& decoder_;
  std::span<const uint8_t> symbols_;
  size_t symbol_at_ = 0;
  std::span<const int32_t> escapes_;
  size_t escape_at_ = 0;
  RawVector<int32_t> quant_codes_;
};

Result<StoredSymbols> read_stored_symbols(ByteReader& in, uint64_t ordinary, const CodebookTable& shared) {
  StoredSymbols s;
  const auto flags = in.get<uint8_t>();
  if (in.failed() || flags > static_cast<uint8_t>(Zeros::runs)) {
    return corrupt(fmt::format("interpolation section: unknown flags 0x{:02x}", flags));
  }
  NEVE_ASSIGN(s.symbols, read_symbols(in, shared, static_cast<Zeros>(flags), ordinary));
  NEVE_ASSIGN(s.escapes, read_escapes(in, ordinary));
  if (in.failed() || in.remaining() != 0) {
    return corrupt(fmt::format("interpolation section: {} bytes left over", in.remaining()));
  }
  return s;
}

template <class T>
SectionDraft draft_fields(const SectionSource<T>& source, const ComponentSpec& spec, bool are_merged) {
  InterpolationEncoder<T> encoder(source, spec, false);
  SymbolRowEncoder<T> rows(encoder, source.held);
  encoder.run(rows);
  SectionDraft draft;
  draft.codec = Codec::interpolation;
  draft.report = encoder.report();
  draft.symbols = rows.take();
  ByteWriter before(draft.before);
  encoder.write_head(before, are_merged);
  std::vector<int32_t> escapes = rows.take_escapes();
  const bool has_runs = settle_symbols(draft, escapes);
  before.put(has_runs ? Zeros::runs : Zeros::coded);
  if (has_runs) before.put_varint(draft.symbols.size());
  ByteWriter after(draft.after);
  write_escapes(escapes, after);
  return draft;
}

// What follows the head.
template <class T>
Status decode_fields(ByteReader& in, const InterpolationHead<T>& head, const QuantizationGrid<T>& grid,
                     const CodebookTable& shared, const SectionTarget<T>& target) {
  const uint64_t without_symbol = head.specials.count() + head.anchors.size();
  if (without_symbol > target.held) {
    return corrupt(fmt::format("interpolation section: {} special values and {} anchors among {} values",
                               head.specials.count(), head.anchors.size(), target.held));
  }
  NEVE_ASSIGN(StoredSymbols stored, read_stored_symbols(in, target.held - without_symbol, shared));
  InterpolationDecoder<T> decoder(head, grid, target);
  SymbolRowDecoder<T> rows(decoder, stored);
  const bool complete = decoder.run(false, rows) && rows.is_at_end();
  recycle_symbols(std::move(stored.symbols));
  if (!complete) return corrupt("interpolation section: its symbols do not match its values");
  return {};
}

}  // namespace

// Merged only where it was asked for by name: `auto` weighs the codec as a sample of single rectangles tells.
template <class T>
SectionDraft draft_interpolation(const SectionSource<T>& source, const ComponentSpec& spec) {
  const bool merges = spec.tuning.merge_units && spec.codec == Codec::interpolation &&
                      source.nested.empty() && can_merge(source.rects);
  if (!merges) return draft_fields(source, spec, false);
  const MergedSource<T> merged(source);
  return draft_fields(merged.section(), spec, true);
}

template <class T>
Status decode_interpolation(ByteSpan bytes, const ComponentInfo& info, const CodebookTable& shared,
                            const SectionTarget<T>& target) {
  NEVE_ASSIGN(const QuantizationGrid<T> grid, usable_grid<T>(info, codec_name(Codec::interpolation)));
  ByteReader in(bytes);
  NEVE_ASSIGN(const InterpolationHead<T> head, read_interpolation_head<T>(in, target.held, MayMerge::yes));
  if (!head.is_merged) return decode_fields(in, head, grid, shared, target);
  if (!target.nested.empty()) {
    return corrupt("interpolation section: merged rectangles among values of the coarser level");
  }
  const MergedTarget<T> merged(target);
  NEVE_TRY(decode_fields(in, head, grid, shared, merged.section()));
  merged.scatter();
  return {};
}

template SectionDraft draft_interpolation<float>(const SectionSource<float>&, const ComponentSpec&);
template SectionDraft draft_interpolation<double>(const SectionSource<double>&, const ComponentSpec&);
template Status decode_interpolation<float>(ByteSpan, const ComponentInfo&, const CodebookTable&,
                                            const SectionTarget<float>&);
template Status decode_interpolation<double>(ByteSpan, const ComponentInfo&, const CodebookTable&,
                                             const SectionTarget<double>&);

}  // namespace neve
