// SPDX-License-Identifier: BSD-3-Clause
#include "codecs/section_codec.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <optional>

#include "codecs/reconstruct.hpp"
#include "kernels/portable.hpp"
#include "select/interpolation_estimate.hpp"
#include "stages/entropy/book_choice.hpp"
#include "stages/quantize/quantizer.hpp"

namespace neve {

namespace {

// Where more than this share of the values must be listed exactly, the exact codec may well be smaller.
constexpr double exact_trial_share = 0.05;

// Interpolation takes three times as long as dual_quant: at effort balanced it is tried where it should save
// some of the bytes, by an estimate that is rather high.
constexpr double interpolation_worth_share = 0.93;
// At effort max `context` is tried unless the estimate for interpolation is so far above what dual_quant
// takes that context, which beats interpolation by a fifth, has not won yet.
constexpr double context_hopeless_share = 1.6;
// Several codebooks seldom save dual_quant more than this: one is enough to know that it loses.
constexpr double codebooks_save_share = 0.12;

// The one value (bit for bit) that all held cells have.
template <class T>
std::optional<T> single_value(const SectionSource<T>& source) {
  std::optional<T> value;
  for (const auto& rect : source.rects) {
    for (int64_t r = 0; r < rect.rows(); ++r) {
      const T* row = rect.row(r);
      const uint8_t* skip = rect.left_out.empty() ? nullptr : rect.left_out.data() + r * rect.size[0];
      for (int64_t x = 0; x < rect.size[0]; ++x) {
        if (skip != nullptr && skip[x] != 0) continue;
        if (!value) value = row[x];
        if (std::bit_cast<WordOf<T>>(*value) != std::bit_cast<WordOf<T>>(row[x])) return {};
      }
    }
  }
  return value ? value : T{0};  // nothing held: any value will do
}

// Holds the value as dual quantization would restore it: a decoded value depends on the original and the spec
// alone, never on which section it fell into (what coverage checks across ranks rely on).
template <class T>
SectionDraft draft_constant(T value, const SectionSource<T>& source, const ComponentSpec& spec) {
  SectionDraft draft;
  draft.codec = Codec::constant;
  const std::optional<WordOf<T>> fill = fill_bits<T>(spec);
  if constexpr (std::is_floating_point_v<T>) {
    T restored;
    reconstruct_values(&value, &restored, 1, spec);
    ByteWriter(draft.before).put(restored);
    if (portable::is_special(value, fill.has_value(), fill.value_or(0))) {
      draft.report.special_cells = source.held;
    } else {
      const double error = std::abs(static_cast<double>(value) - static_cast<double>(restored));
      draft.report.max_abs_error = error;
    }
  } else {
    ByteWriter(draft.before).put(value);
    if (fill && value == *fill) draft.report.special_cells = source.held;
  }
  return draft;
}

template <class T>
Status decode_constant(ByteSpan bytes, const SectionTarget<T>& target) {
  ByteReader in(bytes);
  const T value = in.get<T>();
  if (in.failed() || in.remaining() != 0) {
    return corrupt(fmt::format("constant section: {} bytes, must be {}", bytes.size(), sizeof(T)));
  }
  // Left-out cells are promised to be finite.
  const T outside = is_finite(value) ? value : T{0};
  for (const auto& rect : target.rects) {
    if (rect.first == nullptr) continue;
    for (int64_t r = 0; r < rect.rows(); ++r) {
      T* row = rect.row(r);
      const uint8_t* skip = rect.left_out.empty() ? nullptr : rect.left_out.data() + r * rect.size[0];
      for (int64_t x = 0; x < rect.size[0]; ++x) row[x] = skip != nullptr && skip[x] != 0 ? outside : value;
    }
  }
  return {};
}

bool lists_many(const SectionDraft& draft, uint64_t held) {
  return static_cast<double>(draft.report.exact_cells) > exact_trial_share * static_cast<double>(held);
}

// A draft of one codec, or of `exact` where that is smaller because many values had to be listed.
template <class T>
SectionDraft draft_lossy(const SectionSource<T>& source, const ComponentSpec& spec, Codec codec,
                         Effort effort) {
  if (codec == Codec::dual_quant) {
    SectionDraft draft = draft_dual_quant(source, spec, effort);
    if (lists_many(draft, source.held)) {
      SectionDraft exact = draft_exact(source, spec);
      exact.report = draft.report;
      if (exact.before.size() < drafted_bytes(draft)) return exact;
    }
    return draft;
  }
  SectionDraft draft = codec == Codec::lorenzo_regression ? draft_lorenzo_regression(source, spec, effort)
                       : codec == Codec::interpolation    ? draft_interpolation(source, spec, effort)
                                                          : draft_context(source, spec);
  if (lists_many(draft, source.held)) {
    // Values as they are: what dual quantization makes of them would belie this draft's report.
    ComponentSpec as_they_are = spec;
    as_they_are.codec = Codec::exact;
    SectionDraft exact = draft_exact(source, as_they_are);
    exact.report.special_cells = draft.report.special_cells;
    exact.report.exact_cells -= draft.report.special_cells;
    if (exact.before.size() < drafted_bytes(draft)) return exact;
  }
  return draft;
}

// The codec that the effort is worth. dual_quant is always tried: beside the others it costs little, and
// what it takes is then known and not guessed.
template <class T>
SectionDraft select_codec(const SectionSource<T>& source, const ComponentSpec& spec, Effort effort) {
  if (spec.recalled != Codec::automatic) return draft_lossy(source, spec, spec.recalled, effort);
  const bool is_max = effort == Effort::max;
  // Beside `context` one codebook mostly tells who wins.
  SectionDraft plain = draft_lossy(source, spec, Codec::dual_quant, is_max ? Effort::fast : effort);
  if (effort == Effort::fast) return plain;
  uint64_t plain_bytes = drafted_bytes(plain);
  const Codec rival = is_max ? Codec::context : Codec::interpolation;
  const double estimate = estimate_section(source, spec);
  const bool is_hopeless =
      is_max ? std::isfinite(estimate) && estimate > context_hopeless_share * static_cast<double>(plain_bytes)
             : !(estimate < interpolation_worth_share * static_cast<double>(plain_bytes));
  std::optional<SectionDraft> other;
  if (!is_hopeless) other = draft_lossy(source, spec, rival, effort);
  const uint64_t other_bytes =
      other ? drafted_bytes(*other) : static_cast<uint64_t>(std::min(estimate, 1e18));
  if (is_max &&
      (1 - codebooks_save_share) * static_cast<double>(plain_bytes) < static_cast<double>(other_bytes)) {
    plain = draft_lossy(source, spec, Codec::dual_quant, effort);
    plain_bytes = drafted_bytes(plain);
  }
  if (other && other_bytes < plain_bytes) {
    other->report.rival = Codec::dual_quant;
    other->report.rival_bytes = plain_bytes;
    other->interpolation_estimate = estimate;
    return std::move(*other);
  }
  plain.interpolation_estimate = estimate;
  if (other || std::isfinite(estimate)) {
    plain.report.rival = rival;
    plain.report.rival_bytes = other_bytes;
    plain.report.rival_is_estimate = !other;
  }
  return plain;
}

template <class T>
bool has_quanta(const ComponentSpec& spec) {
  if constexpr (std::is_floating_point_v<T>) {
    return make_grid<T>(spec).is_usable();
  } else {
    return false;
  }
}

// The codecs that quantize.
template <class T>
Status decode_lossy(ByteSpan bytes, Codec codec, const ComponentInfo& info, const SharedBooks& shared,
                    const SectionTarget<T>& target) {
  switch (codec) {
    case Codec::dual_quant:
      return decode_dual_quant(bytes, info, shared, target);
    case Codec::lorenzo_regression:
      return decode_lorenzo_regression(bytes, info, shared, target);
    case Codec::interpolation:
      return decode_interpolation(bytes, info, shared, target);
    case Codec::context:
      return decode_context(bytes, info, target);
    default:
      return corrupt(fmt::format("section: codec {} cannot be decoded", static_cast<int>(codec)));
  }
}

}  // namespace

template <class T>
double estimate_section(const SectionSource<T>& source, const ComponentSpec& spec) {
  return estimate_interpolation_bytes(source, make_quantizer<T>(spec));
}

template <class T>
SectionDraft draft_section(const SectionSource<T>& source, const ComponentSpec& spec, Effort effort) {
  SectionDraft draft;
  if (const auto value = single_value(source); value) {
    draft = draft_constant(*value, source, spec);
  } else if (is_lossless(spec)) {
    draft = draft_lossless(source, spec, effort);
  } else if (spec.codec == Codec::exact || !has_quanta<T>(spec)) {
    draft = draft_exact(source, spec);
  } else if constexpr (std::is_floating_point_v<T>) {
    draft = spec.codec == Codec::automatic ? select_codec(source, spec, effort)
                                           : draft_lossy(source, spec, spec.codec, effort);
  }
  draft.report.cells = source.held;
  draft.report.codec = draft.codec;
  return draft;
}

uint64_t drafted_bytes(const SectionDraft& draft) {
  uint64_t bytes = draft.before.size() + draft.after.size();
  if (draft.symbols.empty()) return bytes;
  Bytes tables;
  ByteWriter out(tables);
  const auto books = write_books(draft.histograms, draft.block_book, nullptr, out);
  uint64_t bits = 0;
  for (size_t b = 0; b < books.size(); ++b) bits += coded_bits(books[b], draft.histograms[b]);
  return bytes + tables.size() + bits / 8;
}

Bytes finish_section(const SectionDraft& draft, SharedBooks* shared) {
  // Room for the symbols at half their size: Huffman rarely needs more, and growing copies.
  Bytes bytes;
  bytes.reserve(draft.before.size() + draft.symbols.size() / 2 + draft.after.size());
  bytes = draft.before;
  ByteWriter out(bytes);
  if (!draft.symbols.empty()) {
    const auto books =
        write_books(draft.histograms, draft.block_book, shared != nullptr ? &shared->books : nullptr, out);
    huffman_encode(draft.symbols, books, draft.block_book, out);
  }
  out.put_bytes(draft.after);
  return bytes;
}

template <class T>
Status decode_section(ByteSpan bytes, Codec codec, const ComponentInfo& info, const SharedBooks& shared,
                      const SectionTarget<T>& target) {
  switch (codec) {
    case Codec::constant:
      return decode_constant(bytes, target);
    case Codec::exact:
      return decode_exact(bytes, target);
    case Codec::lossless:
      return decode_lossless(bytes, target);
    default:
      break;
  }
  if constexpr (std::is_floating_point_v<T>) return decode_lossy(bytes, codec, info, shared, target);
  return corrupt(fmt::format("section: codec {} has no integers", codec_name(codec)));
}

template double estimate_section<float>(const SectionSource<float>&, const ComponentSpec&);
template double estimate_section<double>(const SectionSource<double>&, const ComponentSpec&);
template SectionDraft draft_section<float>(const SectionSource<float>&, const ComponentSpec&, Effort);
template Status decode_section<float>(ByteSpan, Codec, const ComponentInfo&, const SharedBooks&,
                                      const SectionTarget<float>&);
template SectionDraft draft_section<double>(const SectionSource<double>&, const ComponentSpec&, Effort);
template Status decode_section<double>(ByteSpan, Codec, const ComponentInfo&, const SharedBooks&,
                                       const SectionTarget<double>&);
template SectionDraft draft_section<uint8_t>(const SectionSource<uint8_t>&, const ComponentSpec&, Effort);
template Status decode_section<uint8_t>(ByteSpan, Codec, const ComponentInfo&, const SharedBooks&,
                                        const SectionTarget<uint8_t>&);
template SectionDraft draft_section<uint16_t>(const SectionSource<uint16_t>&, const ComponentSpec&, Effort);
template Status decode_section<uint16_t>(ByteSpan, Codec, const ComponentInfo&, const SharedBooks&,
                                         const SectionTarget<uint16_t>&);
template SectionDraft draft_section<uint32_t>(const SectionSource<uint32_t>&, const ComponentSpec&, Effort);
template Status decode_section<uint32_t>(ByteSpan, Codec, const ComponentInfo&, const SharedBooks&,
                                         const SectionTarget<uint32_t>&);
template SectionDraft draft_section<uint64_t>(const SectionSource<uint64_t>&, const ComponentSpec&, Effort);
template Status decode_section<uint64_t>(ByteSpan, Codec, const ComponentInfo&, const SharedBooks&,
                                         const SectionTarget<uint64_t>&);

}  // namespace neve
