// SPDX-License-Identifier: BSD-3-Clause
#include "core/codecs/section_codec.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstring>
#include <optional>

#include "core/catalog/codecs.hpp"
#include "core/codecs/codec_choice.hpp"
#include "core/codecs/codec_drafts.hpp"
#include "core/codecs/lossless_rival.hpp"
#include "core/codecs/reconstruct.hpp"
#include "core/codecs/symbol_coding.hpp"
#include "core/select/interpolation_estimate.hpp"
#include "core/stages/quantize/quantizer.hpp"

namespace neve {

namespace {

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

template <class T>
Bytes bytes_of(T value) {
  Bytes bytes(sizeof value);
  std::memcpy(bytes.data(), &value, sizeof value);
  return bytes;
}

// Holds the value as dual quantization would restore it: a decoded value depends on the original and the spec
// alone, never on which section it fell into (what coverage checks across ranks rely on).
template <class T>
SectionDraft draft_one_value(T value, const SectionSource<T>& source, const ComponentSpec& spec) {
  SectionDraft draft;
  draft.codec = Codec::constant;
  if constexpr (std::is_floating_point_v<T>) {
    T restored;
    reconstruct_values(&value, &restored, 1, spec);
    draft.before = bytes_of(restored);
    if (ValueRules<T>(spec, make_quantizer<T>(spec)).is_special(value)) {
      draft.report.special_cells = source.held;
    } else {
      const double error = std::abs(static_cast<double>(value) - static_cast<double>(restored));
      draft.report.max_abs_error = error;
    }
  } else {
    draft.before = bytes_of(value);
    if (const auto fill = fill_bits<T>(spec); fill && value == *fill)
      draft.report.special_cells = source.held;
  }
  return draft;
}

template <class T>
bool has_quant_codes(const ComponentSpec& spec) {
  if constexpr (std::is_floating_point_v<T>) {
    return make_grid<T>(spec).is_usable();
  } else {
    return false;
  }
}

// The codec that keeps every bit and is called for these values: the one that was asked for by name, or what
// stands in where nothing can be quantized. Codec::automatic where values are quantized.
template <class T>
Codec bit_keeper(const ComponentSpec& spec) {
  if (traits_of(spec.codec).keeps_bits) return spec.codec;
  if (is_lossless(spec)) return Codec::lossless;
  if (has_quant_codes<T>(spec)) return Codec::automatic;
  return spec.codec == Codec::automatic ? Codec::lossless : Codec::exact;
}

}  // namespace

template <class T>
Status decode_constant(ByteSpan bytes, const ComponentInfo&, const CodebookTable&,
                       const SectionTarget<T>& target) {
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

template <class T>
double estimate_section(const SectionSource<T>& source, const ComponentSpec& spec) {
  const Quantizer<T> quantizer = make_quantizer<T>(spec);
  return estimate_interpolation_bytes(source, quantizer, ValueRules<T>(spec, quantizer));
}

template <class T>
SectionDraft draft_section(const SectionSource<T>& source, const ComponentSpec& spec, Effort effort) {
  SectionDraft draft;
  if (const auto value = single_value(source); value) {
    draft = draft_one_value(*value, source, spec);
    note_alone(draft, 0);
  } else if (const Codec keeper = bit_keeper<T>(spec); keeper != Codec::automatic) {
    draft = draft_kept(keeper, source, spec, effort);
  } else if constexpr (std::is_floating_point_v<T>) {
    Codec codec = spec.codec == Codec::automatic ? spec.recalled : spec.codec;
    // What codec lossless keeps of restored values is weighed against dual_quant each time.
    if (codec == Codec::lossless && is_restored_alike(spec)) codec = Codec::automatic;
    if (codec != Codec::lossless && codec != Codec::automatic && dual_quant_alone(spec)) {
      codec = Codec::dual_quant;
    }
    if (codec == Codec::automatic) {
      draft = select_codec(source, spec, effort);
    } else if (codec == Codec::lossless) {
      draft = draft_lossless(source, spec, effort);
    } else {
      draft = draft_lossy(source, spec, codec, effort);
      refine_codebooks(draft, effort);
      draft.selection.settled(drafted_bytes(draft), 0);
    }
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
  write_codebooks(draft.codebooks, draft.block_codebook, nullptr, out);
  uint64_t bits = 0;
  for (const CountedCodebook& codebook : draft.codebooks) bits += codebook.bits;
  return bytes + tables.size() + bits / 8;
}

Bytes finish_section(const SectionDraft& draft, SharedCodebooks* shared) {
  // Room for the symbols at half their size: Huffman rarely needs more, and growing copies.
  Bytes bytes;
  bytes.reserve(draft.before.size() + draft.symbols.size() / 2 + draft.after.size());
  bytes = draft.before;
  ByteWriter out(bytes);
  if (!draft.symbols.empty()) {
    const auto codebooks = write_codebooks(draft.codebooks, draft.block_codebook,
                                           shared != nullptr ? &shared->codebooks : nullptr, out);
    huffman_encode(draft.symbols, codebooks, draft.block_codebook, out);
  }
  out.put_bytes(draft.after);
  return bytes;
}

template <class T>
Status decode_section(ByteSpan bytes, Codec codec, const ComponentInfo& info, const CodebookTable& shared,
                      const SectionTarget<T>& target) {
  switch (codec) {
#define NEVE_DECODE(name, is_asked_for, keeps_bits, ...)     \
  case Codec::name:                                          \
    if constexpr (keeps_bits || std::is_floating_point_v<T>) \
      return decode_##name(bytes, info, shared, target);     \
    else                                                     \
      return corrupt(fmt::format("section: codec {} does not support integers", codec_name(codec)));
    NEVE_CODECS(NEVE_DECODE)
#undef NEVE_DECODE
    case Codec::automatic:
      break;
  }
  return corrupt(fmt::format("section: codec {} cannot be decoded", static_cast<int>(codec)));
}

template double estimate_section<float>(const SectionSource<float>&, const ComponentSpec&);
template double estimate_section<double>(const SectionSource<double>&, const ComponentSpec&);
template SectionDraft draft_section<float>(const SectionSource<float>&, const ComponentSpec&, Effort);
template Status decode_section<float>(ByteSpan, Codec, const ComponentInfo&, const CodebookTable&,
                                      const SectionTarget<float>&);
template SectionDraft draft_section<double>(const SectionSource<double>&, const ComponentSpec&, Effort);
template Status decode_section<double>(ByteSpan, Codec, const ComponentInfo&, const CodebookTable&,
                                       const SectionTarget<double>&);
template SectionDraft draft_section<uint8_t>(const SectionSource<uint8_t>&, const ComponentSpec&, Effort);
template Status decode_section<uint8_t>(ByteSpan, Codec, const ComponentInfo&, const CodebookTable&,
                                        const SectionTarget<uint8_t>&);
template SectionDraft draft_section<uint16_t>(const SectionSource<uint16_t>&, const ComponentSpec&, Effort);
template Status decode_section<uint16_t>(ByteSpan, Codec, const ComponentInfo&, const CodebookTable&,
                                         const SectionTarget<uint16_t>&);
template SectionDraft draft_section<uint32_t>(const SectionSource<uint32_t>&, const ComponentSpec&, Effort);
template Status decode_section<uint32_t>(ByteSpan, Codec, const ComponentInfo&, const CodebookTable&,
                                         const SectionTarget<uint32_t>&);
template SectionDraft draft_section<uint64_t>(const SectionSource<uint64_t>&, const ComponentSpec&, Effort);
template Status decode_section<uint64_t>(ByteSpan, Codec, const ComponentInfo&, const CodebookTable&,
                                         const SectionTarget<uint64_t>&);

}  // namespace neve
