// SPDX-License-Identifier: BSD-3-Clause
// One section of a frame to bytes and back: picks the codec, each of which has its own file.
#pragma once

#include <bit>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/bits/bytes.hpp"
#include "core/bits/ordered_words.hpp"
#include "core/catalog/codecs.hpp"
#include "core/sections/section_data.hpp"
#include "core/select/selection_trace.hpp"
#include "core/stages/entropy/codebook_choice.hpp"
#include "core/stages/entropy/huffman_code.hpp"
#include "core/stages/entropy/huffman_coder.hpp"
#include "core/stages/lossless/byte_coder.hpp"
#include "core/threads/scratch.hpp"
#include "neve/frame.hpp"

namespace neve {

// A section all of whose stages but the Huffman codes are done: those wait until the sections of the
// frame have agreed on codebooks.
struct SectionDraft {
  Codec codec = Codec::constant;
  Bytes before;                         // bytes ahead of the symbol stream
  Bytes after;                          // bytes behind it
  Symbols symbols;                      // of the codecs that use Huffman codes, else empty
  std::vector<uint8_t> block_codebook;  // empty: one codebook
  std::vector<CountedCodebook> codebooks;
  GroupCounts counts;  // of the symbols
  ComponentReport report;
  SelectionTrace selection;
  // What the rectangles decode to, one after another, x fastest, in memory for values of the section's type;
  // empty: not told.
  RawVector<uint64_t> restored;
  // What codec interpolation would take, where `auto` sampled for that; infinity where a sample says nothing.
  std::optional<double> interpolation_estimate;
  Status refused;  // not ok: what was asked for by name cannot hold these values, and there is no draft
};

// Codebooks that the sections of a frame share. Reference 0 in a section means "inline, follows"; k means
// shared codebook k-1.
struct SharedCodebooks {
  std::vector<Codebook> codebooks;
};

// The bits of the fill value as T holds it.
template <class T>
std::optional<WordOf<T>> fill_bits(const ComponentSpec& spec) {
  if constexpr (std::is_floating_point_v<T>) {
    if (spec.fill) return std::bit_cast<WordOf<T>>(static_cast<T>(*spec.fill));
  } else {
    if (spec.integer_fill) return static_cast<T>(*spec.integer_fill);
  }
  return {};
}

// Whether a component is coded by codec lossless: asked for, or for want of a bound.
inline bool is_lossless(const ComponentSpec& spec) {
  return spec.codec == Codec::lossless || (spec.codec == Codec::automatic && spec.bound_abs == 0);
}

// What codec interpolation would take, from a sample; infinity where a sample says nothing.
template <class T>
double estimate_section(const SectionSource<T>& source, const ComponentSpec& spec);

template <class T>
SectionDraft draft_section(const SectionSource<T>& source, const ComponentSpec& spec, Effort effort);

// What finish_section will make of a draft, without coding its symbols; padding of the symbol streams aside.
uint64_t drafted_bytes(const SectionDraft& draft);

// Completes a draft. With `shared` non-null it may use its codebooks and add to them.
Bytes finish_section(const SectionDraft& draft, SharedCodebooks* shared);

// Errors: corrupt.
template <class T>
Status decode_section(ByteSpan bytes, Codec codec, const ComponentInfo& info, const CodebookTable& shared,
                      const SectionTarget<T>& target);

// --- the codecs: draft_NAME and decode_NAME of each row of core/catalog/codecs.hpp. Symbols get one
// codebook, and more of them once it is known whose symbols stay. Codecs that keep every bit are told the
// effort, too; constant, which nobody asks for, has no draft_NAME.

#define NEVE_DRAFT_ARGUMENTS_false const SectionSource<T>&source, const ComponentSpec &spec
#define NEVE_DRAFT_ARGUMENTS_true const SectionSource<T>&source, const ComponentSpec &spec, Effort effort
#define NEVE_CODEC_FUNCTIONS(name, is_asked_for, keeps_bits, ...)                              \
  template <class T>                                                                           \
  SectionDraft draft_##name(NEVE_DRAFT_ARGUMENTS_##keeps_bits);                                \
  template <class T>                                                                           \
  Status decode_##name(ByteSpan bytes, const ComponentInfo& info, const CodebookTable& shared, \
                       const SectionTarget<T>& target);
NEVE_CODECS(NEVE_CODEC_FUNCTIONS)
#undef NEVE_CODEC_FUNCTIONS
#undef NEVE_DRAFT_ARGUMENTS_true
#undef NEVE_DRAFT_ARGUMENTS_false

// As draft_dual_quant and draft_axis_passes, with what a sample has told.
struct AxisChoice;
template <class T>
SectionDraft draft_dual_quant_along(const SectionSource<T>& source, const ComponentSpec& spec,
                                    const AxisChoice& choice);
struct AxisPassModel;
template <class T>
SectionDraft draft_axis_passes_by(const SectionSource<T>& source, const ComponentSpec& spec,
                                  const AxisPassModel& model);

// The compressor that a method cannot do without; nothing for those that have their own coding.
std::optional<ByteCoder> coder_of(LosslessMethod method);
// Codec lossless: a method asked for whose compressor is not there (LZO, bzip2) has been refused before.
// Method rank gives way to lorenzo where a section has too many different values.
//
// Its draft where it may score more than `score_to_beat` (another codec's) and does; else no draft, and in
// `losers` what was weighed. Of a part of a section, by which the section is judged, methods that take many
// times as long as others are not tried.
enum class Scope : uint8_t { section, part };
template <class T>
std::optional<SectionDraft> draft_lossless_above(const SectionSource<T>& source, const ComponentSpec& spec,
                                                 Effort effort, double score_to_beat, SelectionTrace& losers,
                                                 Scope scope = Scope::section);

}  // namespace neve
