// SPDX-License-Identifier: BSD-3-Clause
// Codec `context`: interpolation whose quantization codes are coded by adaptive models, one for each
// neighbourhood (magnitudes and signs of the quantization codes around), with range asymmetric numeral
// systems.
#include <fmt/format.h>

#include <bit>
#include <cstdlib>

#include "core/codecs/interpolation_fields.hpp"
#include "core/codecs/section_codec.hpp"
#include "core/stages/entropy/bit_io.hpp"
#include "core/stages/entropy/context_models.hpp"
#include "core/stages/entropy/rans.hpp"

namespace neve {

namespace {

// Behind the escape symbol: so many ones say that an exact value follows; fewer, and a zero, that as many
// bits follow below the top bit of what the symbol falls short by.
constexpr unsigned exact_ones = 25;
constexpr uint8_t exact_magnitude = 16;
constexpr int magnitude_limit = 255;

// The context of each cell of a row: all of it is known before the row but the cell just before.
class RowContext {
 public:
  template <class T>
  RowContext(const ClassRow<T>& row, std::vector<int8_t>& signs_above, ContextModels& models)
      : models_(models.of_directions(std::popcount(static_cast<unsigned>(row.of_class)))),
        sum_(row.magnitude_sum),
        first_scale_(scale(row.magnitude_weight)),
        scale_(scale(row.magnitude_weight + before_weight)),
        signs_(signs_above) {
    if (!row.has_above || signs_.size() != row.count) signs_.assign(row.count, 0);
  }

  struct Place {
    NibbleModel* model;
    int raw_bits;
  };
  Place at(size_t i) {
    uint32_t eighths = 0;
    if (i == 0) {
      eighths = static_cast<uint32_t>(uint64_t{sum_[0]} * first_scale_ >> scale_bits);
    } else {
      eighths =
          static_cast<uint32_t>(uint64_t{sum_[i] + before_weight * magnitude_before_} * scale_ >> scale_bits);
    }
    const int activity = activity_table[eighths];
    return {models_ + ContextModels::context(activity, sign_before_, signs_[i]), raw_bits(activity)};
  }
  // What an excluded cell counts for: the magnitudes around it.
  uint8_t mean_magnitude(size_t i) const {
    return static_cast<uint8_t>((uint64_t{sum_[i]} * first_scale_ >> scale_bits) / 8);
  }
  void set(size_t i, uint32_t magnitude, int sign) {
    magnitude_before_ = magnitude;
    sign_before_ = sign;
    signs_[i] = static_cast<int8_t>(sign);
  }

 private:
  static constexpr unsigned before_weight = 2;
  static constexpr unsigned scale_bits = 16;
  // The mean in eighths is sum * scale >> scale_bits.
  static uint32_t scale(unsigned weight) { return weight == 0 ? 0 : (8U << scale_bits) / weight; }

  NibbleModel* models_;
  const uint16_t* sum_;
  uint32_t first_scale_;
  uint32_t scale_;
  std::vector<int8_t>& signs_;  // of the row above; each is replaced once used
  uint32_t magnitude_before_ = 0;
  int sign_before_ = 0;
};

template <class T>
class ContextRowEncoder {
 public:
  ContextRowEncoder(InterpolationEncoder<T>& encoder, uint64_t cells) : encoder_(encoder), raw_(raw_bytes_) {
    rans_.reserve(cells);
  }

  bool code(const ClassRow<T>& row) {
    quant_codes_.resize(row.count);
    encoder_.quantize_row(row, quant_codes_.data());
    RowContext context(row, signs_, models_);
    for (size_t i = 0; i < row.count; ++i) {
      if (row.excluded != nullptr && row.excluded[i] != 0) {
        row.magnitudes[i] = context.mean_magnitude(i);
        context.set(i, row.magnitudes[i], 0);
        continue;
      }
      const RowContext::Place place = context.at(i);
      const int32_t quant_code = quant_codes_[i];
      if (quant_code == rejected_quant_code) {
        put_symbol(*place.model, escape_symbol);
        raw_.put((1U << exact_ones) - 1, exact_ones);
        encoder_.list_exactly(row.values[i]);
        row.magnitudes[i] = exact_magnitude;
        context.set(i, exact_magnitude, 0);
        continue;
      }
      put_quant_code(place, quant_code);
      const auto magnitude = static_cast<uint8_t>(std::min(std::abs(quant_code), magnitude_limit));
      row.magnitudes[i] = magnitude;
      context.set(i, magnitude, (quant_code > 0) - (quant_code < 0));
    }
    return true;
  }

  void finish(ByteWriter& out) {
    raw_.finish();
    out.put_varint(raw_bytes_.size());
    out.put_bytes(raw_bytes_);
    rans_.finish(out);
  }

 private:
  void put_symbol(NibbleModel& model, uint32_t symbol) {
    rans_.put(model.begin(static_cast<int>(symbol)), model.end(static_cast<int>(symbol)));
    model.update(static_cast<int>(symbol));
  }

  void put_quant_code(const RowContext::Place& place, int32_t quant_code) {
    const int32_t half = (1 << place.raw_bits) >> 1;
    const uint32_t upper = zigzag((quant_code + half) >> place.raw_bits);
    put_symbol(*place.model, std::min(upper, escape_symbol));
    if (upper >= escape_symbol) {
      const uint32_t rest = upper - escape_symbol + 1;
      const auto bits = static_cast<unsigned>(std::bit_width(rest)) - 1;
      raw_.put((1U << bits) - 1, bits + 1);
      raw_.put(rest, bits);
    }
    if (place.raw_bits > 0) {
      raw_.put(static_cast<uint32_t>(quant_code + half), static_cast<unsigned>(place.raw_bits));
    }
  }

  InterpolationEncoder<T>& encoder_;
  ContextModels models_;
  RansEncoder rans_;
  Bytes raw_bytes_;
  BitWriter raw_;
  RawVector<int32_t> quant_codes_;
  std::vector<int8_t> signs_;
};

template <class T>
class ContextRowDecoder {
 public:
  ContextRowDecoder(InterpolationDecoder<T>& decoder, ByteSpan raw, ByteSpan words)
      : decoder_(decoder), raw_(raw), rans_(words) {}

  bool code(const ClassRow<T>& row) {
    quant_codes_.resize(row.count);
    RowContext context(row, signs_, models_);
    for (size_t i = 0; i < row.count; ++i) {
      if (row.excluded != nullptr && row.excluded[i] != 0) {
        quant_codes_[i] = 0;
        row.magnitudes[i] = context.mean_magnitude(i);
        context.set(i, row.magnitudes[i], 0);
        continue;
      }
      const int32_t quant_code = take_quant_code(context.at(i));
      quant_codes_[i] = quant_code;
      if (quant_code == rejected_quant_code) {
        row.magnitudes[i] = exact_magnitude;
        context.set(i, exact_magnitude, 0);
        continue;
      }
      const auto magnitude = static_cast<uint8_t>(std::min(std::abs(quant_code), magnitude_limit));
      row.magnitudes[i] = magnitude;
      context.set(i, magnitude, (quant_code > 0) - (quant_code < 0));
    }
    return !rans_.failed() && decoder_.restore_row(row, quant_codes_.data());
  }
  bool is_at_end() const { return rans_.is_at_end(); }

 private:
  int32_t take_quant_code(const RowContext::Place& place) {
    const int symbol = place.model->find(rans_.slot());
    rans_.advance(place.model->begin(symbol), place.model->end(symbol));
    place.model->update(symbol);
    auto upper = static_cast<uint32_t>(symbol);
    if (upper == escape_symbol) {
      unsigned bits = 0;
      while (bits < exact_ones && raw_.get(1) != 0) ++bits;
      if (bits == exact_ones) return rejected_quant_code;
      upper = escape_symbol - 1 + (1U << bits | static_cast<uint32_t>(raw_.get(bits)));
    }
    // Bits enough for any quantization code, and modulo 2^32 for those of a damaged section.
    if (place.raw_bits == 0) return unzigzag(upper);
    const uint32_t whole = static_cast<uint32_t>(unzigzag(upper)) << place.raw_bits;
    const auto low = static_cast<uint32_t>(raw_.get(static_cast<unsigned>(place.raw_bits)));
    return static_cast<int32_t>(whole + low - ((1U << place.raw_bits) >> 1));
  }

  InterpolationDecoder<T>& decoder_;
  BitReader raw_;
  RansDecoder rans_;
  ContextModels models_;
  RawVector<int32_t> quant_codes_;
  std::vector<int8_t> signs_;
};

}  // namespace

template <class T>
SectionDraft draft_context(const SectionSource<T>& source, const ComponentSpec& spec) {
  InterpolationEncoder<T> encoder(source, spec, true);
  ContextRowEncoder<T> rows(encoder, source.held);
  encoder.run(rows);
  SectionDraft draft;
  draft.codec = Codec::context;
  ByteWriter out(draft.before);
  encoder.write_head(out, false);
  rows.finish(out);
  draft.report = encoder.report();
  return draft;
}

template <class T>
Status decode_context(ByteSpan bytes, const ComponentInfo& info, const CodebookTable&,
                      const SectionTarget<T>& target) {
  NEVE_ASSIGN(const QuantizationGrid<T> grid, usable_grid<T>(info, codec_name(Codec::context)));
  ByteReader in(bytes);
  NEVE_ASSIGN(const InterpolationHead<T> head, read_interpolation_head<T>(in, target.held, MayMerge::no));
  const uint64_t raw_bytes = in.get_varint();
  const ByteSpan raw = in.get_bytes(raw_bytes);
  if (in.failed()) return corrupt("context section: ends inside its raw bits");
  InterpolationDecoder<T> decoder(head, grid, target);
  ContextRowDecoder<T> rows(decoder, raw, in.get_bytes(in.remaining()));
  if (!decoder.run(true, rows) || !rows.is_at_end()) {
    return corrupt("context section: its symbols do not match its values");
  }
  return {};
}

template SectionDraft draft_context<float>(const SectionSource<float>&, const ComponentSpec&);
template SectionDraft draft_context<double>(const SectionSource<double>&, const ComponentSpec&);
template Status decode_context<float>(ByteSpan, const ComponentInfo&, const CodebookTable&,
                                      const SectionTarget<float>&);
template Status decode_context<double>(ByteSpan, const ComponentInfo&, const CodebookTable&,
                                       const SectionTarget<double>&);

}  // namespace neve
