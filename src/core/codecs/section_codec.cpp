// SPDX-License-Identifier: BSD-3-Clause
#include "core/codecs/section_codec.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <optional>

#include "core/catalog/codecs.hpp"
#include "core/codecs/reconstruct.hpp"
#include "core/codecs/symbol_coding.hpp"
#include "core/kernels/portable.hpp"
#include "core/select/interpolation_estimate.hpp"
#include "core/stages/entropy/codebook_choice.hpp"
#include "core/stages/quantize/quantizer.hpp"

namespace neve {

namespace {

// Where more than this share of the values must be listed exactly, the exact codec may well be smaller.
constexpr double exact_trial_share = 0.05;

// Interpolation takes three times as long as dual_quant: at effort balanced it is not tried where by an
// estimate it takes more than this share of dual_quant's bytes.
constexpr double max_interpolation_share = 0.8;
// At effort max `context` is tried unless the estimate for interpolation is so far above what dual_quant
// takes that context, which beats interpolation by a fifth, has not won yet.
constexpr double max_context_share = 1.3;
// Several codebooks seldom save more than this.
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

bool lists_many(const SectionDraft& draft, uint64_t held) {
  return static_cast<double>(draft.report.exact_cells) > exact_trial_share * static_cast<double>(held);
}

// The section's values as dual quantization would restore them, in memory of their own.
template <class T>
class RestoredSource {
 public:
  RestoredSource(const SectionSource<T>& source, const ComponentSpec& spec) {
    source_.held = source.held;
    for (const auto& rect : source.rects) {
      RectRows<const T*> rows = rect;
      std::vector<T>& values = values_.emplace_back();
      values.reserve(static_cast<size_t>(rect.cells()));
      for (int64_t r = 0; r < rect.rows(); ++r)
        values.insert(values.end(), rect.row(r), rect.row(r) + rect.size[0]);
      reconstruct_values(values.data(), values.data(), rect.cells(), spec);
      rows.first = values.data();
      rows.stride = {1, rect.size[0], rect.size[0] * rect.size[1],
                     rect.size[0] * rect.size[1] * rect.size[2]};
      source_.rects.push_back(std::move(rows));
    }
  }
  const SectionSource<T>& section() const { return source_; }

 private:
  std::vector<std::vector<T>> values_;
  SectionSource<T> source_;
};

// `draft` has been made by one codec: its trace says so.
void note_alone(SectionDraft& draft, uint64_t spent_ns) {
  const WeighedCandidate alone{draft.codec, LosslessMethod::automatic, Fate::won, 0, drafted_bytes(draft)};
  draft.selection.coded(alone, spent_ns, true);
}

// By the codec of that number, asked for by name.
template <class T>
SectionDraft draft_by(Codec codec, const SectionSource<T>& source, const ComponentSpec& spec, Effort effort) {
  switch (codec) {
#define NEVE_DRAFT(name, is_asked_for, keeps_bits, ...)                \
  case Codec::name:                                                    \
    if constexpr (keeps_bits && is_asked_for) {                        \
      return draft_##name(source, spec, effort);                       \
    } else if constexpr (!keeps_bits && std::is_floating_point_v<T>) { \
      return draft_##name(source, spec);                               \
    }                                                                  \
    break;
    NEVE_CODECS(NEVE_DRAFT)
#undef NEVE_DRAFT
    case Codec::automatic:
      break;
  }
  SectionDraft none;
  none.refused = usage_error(fmt::format("codec {} cannot be asked for here", codec_name(codec)));
  return none;
}

// By a codec that keeps every bit. Codec lossless has said itself what it weighed.
template <class T>
SectionDraft draft_kept(Codec codec, const SectionSource<T>& source, const ComponentSpec& spec,
                        Effort effort) {
  const uint64_t begin_ns = thread_time_ns();
  SectionDraft draft = draft_by(codec, source, spec, effort);
  if (draft.refused.ok() && draft.selection.candidates.empty())
    note_alone(draft, thread_time_ns() - begin_ns);
  return draft;
}

// A draft of one codec, or of `exact` where that is smaller because many values had to be listed.
template <class T>
SectionDraft draft_lossy(const SectionSource<T>& source, const ComponentSpec& spec, Codec codec,
                         Effort effort) {
  const uint64_t begin_ns = thread_time_ns();
  const bool is_dual_quant = codec == Codec::dual_quant;
  SectionDraft draft = draft_by(codec, source, spec, effort);
  note_alone(draft, thread_time_ns() - begin_ns);
  if (!lists_many(draft, source.held)) {
    draft.selection.passed(Codec::exact, Fate::few_listed);
    return draft;
  }
  const uint64_t exact_ns = thread_time_ns();
  ComponentSpec exact_spec = spec;
  // Values as they are: what dual quantization makes of them would make max_abs_error wrong.
  if (!is_dual_quant) exact_spec.codec = Codec::exact;
  SectionDraft exact = draft_exact(source, exact_spec, effort);
  note_alone(exact, thread_time_ns() - exact_ns);
  if (is_dual_quant) {
    exact.report = draft.report;
  } else {
    exact.report.special_cells = draft.report.special_cells;
    exact.report.exact_cells -= draft.report.special_cells;
  }
  if (exact.before.size() < drafted_bytes(draft)) std::swap(exact, draft);
  draft.selection.append_loser(exact.selection);
  return draft;
}

// What a section's candidates are scored by.
struct CandidateScorer {
  uint64_t raw_bytes = 0;
  const CodecTuning& tuning;

  double score(Codec codec, double bytes) const {
    return selection_score(codec, LosslessMethod::automatic, static_cast<double>(raw_bytes), bytes, tuning);
  }
};

// A draft and what it takes. Several codebooks are found late, when it is clear that they may decide.
class Candidate {
 public:
  Candidate(SectionDraft made, const CandidateScorer& scorer)
      : draft_(std::move(made)), bytes_(drafted_bytes(draft_)), scorer_(&scorer) {}

  uint64_t bytes() const { return bytes_; }
  bool is_settled() const { return is_settled_ || draft_.symbols.empty(); }
  double score() const { return scorer_->score(draft_.codec, static_cast<double>(bytes_)); }
  double max_score() const {
    return scorer_->score(draft_.codec,
                          (is_settled() ? 1 : 1 - codebooks_save_share) * static_cast<double>(bytes_));
  }
  void settle(Effort effort) {
    if (is_settled()) return;
    const uint64_t begin_ns = thread_time_ns();
    refine_codebooks(draft_, effort);
    bytes_ = drafted_bytes(draft_);
    is_settled_ = true;
    draft_.selection.settled(bytes_, thread_time_ns() - begin_ns);
  }
  void note_rival(const Candidate& rival) {
    draft_.report.rival = rival.draft_.codec;
    draft_.report.rival_bytes = rival.bytes_;
    draft_.report.rival_is_estimate = !rival.is_settled();
  }
  void note_estimated_rival(Codec codec, double bytes) {
    draft_.report.rival = codec;
    draft_.report.rival_bytes = static_cast<uint64_t>(std::min(bytes, 1e18));
    draft_.report.rival_is_estimate = true;
  }
  const SectionDraft& draft() const { return draft_; }
  SelectionTrace& trace() { return draft_.selection; }
  SectionDraft take() { return std::move(draft_); }

 private:
  SectionDraft draft_;
  uint64_t bytes_;
  const CandidateScorer* scorer_;
  bool is_settled_ = false;
};

// Whether `other` scores more. Only codebooks that may decide it are refined.
bool is_better(Candidate& other, Candidate& leader, Effort effort) {
  if (leader.max_score() > other.score()) leader.settle(effort);
  if (other.max_score() > leader.score()) other.settle(effort);
  if (leader.max_score() > other.score()) leader.settle(effort);
  return other.score() > leader.score();
}

// Whether a decoded value depends on the original and the spec alone, as at effort fast and on a lattice.
bool is_restored_alike(const ComponentSpec& spec, Effort effort) {
  return effort == Effort::fast || spec.lattice;
}

// Puts codec lossless in the place of `best` where it scores more. Where decoded values must be those that
// dual_quant would restore, these are kept bit for bit, and weighed only where many of them had to be listed.
template <class T>
void weigh_lossless_too(const SectionSource<T>& source, const ComponentSpec& spec, Effort effort,
                        const CandidateScorer& scorer, Candidate& best) {
  const bool is_restored = is_restored_alike(spec, effort);
  // No sample of a section tells whether anything takes less than this.
  constexpr uint64_t max_ratio = 64;
  if (is_restored ? best.draft().codec == Codec::dual_quant && !lists_many(best.draft(), source.held)
                  : best.bytes() * max_ratio < scorer.raw_bytes) {
    best.trace().passed(Codec::lossless, is_restored ? Fate::few_listed : Fate::unknown);
    return;
  }
  std::optional<SectionDraft> draft;
  if (is_restored) {
    const RestoredSource<T> restored(source, spec);
    draft = draft_lossless_above(restored.section(), spec, effort, best.max_score(), best.trace());
  } else {
    draft = draft_lossless_above(source, spec, effort, best.max_score(), best.trace());
  }
  if (!draft) return;
  const ComponentReport& report = best.draft().report;
  draft->report.special_cells = report.special_cells;
  if (is_restored) {
    draft->report.max_abs_error = report.max_abs_error;
    draft->report.exact_cells = report.exact_cells;
  }
  draft->selection.append_loser(best.draft().selection);
  Candidate lossless(std::move(*draft), scorer);
  lossless.note_rival(best);
  best = std::move(lossless);
}

// Whether of the codecs that quantize only this one keeps what is asked for: its decoded values do not depend
// on neighbours, and it looks at each of them.
bool dual_quant_alone(const ComponentSpec& spec) { return spec.lattice || may_become_missing(spec); }

// The codec that the effort is worth. dual_quant is always tried: beside the others it costs little, and
// what it takes is then known and not guessed.
template <class T>
SectionDraft select_codec(const SectionSource<T>& source, const ComponentSpec& spec, Effort effort) {
  const CandidateScorer scorer{source.held * sizeof(T), spec.tuning};
  Candidate best(draft_lossy(source, spec, Codec::dual_quant, effort), scorer);
  const bool is_max = effort == Effort::max;
  if (effort != Effort::max) {
    best.trace().passed(Codec::context, Fate::effort);
    best.trace().passed(Codec::lorenzo_regression, Fate::effort);
  }
  if (effort == Effort::fast || dual_quant_alone(spec)) {
    best.trace().passed(Codec::interpolation, Fate::effort);
    weigh_lossless_too(source, spec, effort, scorer, best);
    if (effort != Effort::fast) best.settle(effort);
    return best.take();
  }
  const Codec rival = is_max ? Codec::context : Codec::interpolation;
  const uint64_t begin_ns = thread_time_ns();
  const double estimate = estimate_section(source, spec);
  best.trace().times.weigh_ns += thread_time_ns() - begin_ns;
  const double worth =
      (is_max ? max_context_share : max_interpolation_share) * static_cast<double>(best.bytes());
  const auto weigh = [&](Codec codec) {
    Candidate other(draft_lossy(source, spec, codec, effort), scorer);
    const bool wins = is_better(other, best, effort);
    if (wins) std::swap(best, other);
    best.trace().append_loser(other.draft().selection);
    if (wins || codec == rival) best.note_rival(other);
  };
  // Without an estimate, only max encodes it.
  if (estimate < worth || (is_max && !std::isfinite(estimate))) {
    weigh(rival);
  } else if (std::isfinite(estimate)) {
    best.note_estimated_rival(rival, estimate);
    best.trace().passed({rival, LosslessMethod::automatic, Fate::estimate_too_low,
                         static_cast<uint64_t>(std::min(estimate, 1e18)), 0},
                        Fate::estimate_too_low);
  } else {
    best.trace().passed(rival, Fate::unknown);
  }
  if (is_max && best.draft().codec == Codec::dual_quant) {
    weigh(Codec::lorenzo_regression);
  } else if (is_max) {
    best.trace().passed(Codec::lorenzo_regression, Fate::not_competitive);
  }
  weigh_lossless_too(source, spec, effort, scorer, best);
  best.settle(effort);
  SectionDraft draft = best.take();
  draft.interpolation_estimate = estimate;
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
    if (codec == Codec::lossless && is_restored_alike(spec, effort)) codec = Codec::automatic;
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
  const auto codebooks = write_codebooks(draft.histograms, draft.block_codebook, nullptr, out);
  uint64_t bits = 0;
  for (size_t b = 0; b < codebooks.size(); ++b) bits += coded_bits(codebooks[b], draft.histograms[b]);
  return bytes + tables.size() + bits / 8;
}

Bytes finish_section(const SectionDraft& draft, SharedCodebooks* shared) {
  // Room for the symbols at half their size: Huffman rarely needs more, and growing copies.
  Bytes bytes;
  bytes.reserve(draft.before.size() + draft.symbols.size() / 2 + draft.after.size());
  bytes = draft.before;
  ByteWriter out(bytes);
  if (!draft.symbols.empty()) {
    const auto codebooks = write_codebooks(draft.histograms, draft.block_codebook,
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
