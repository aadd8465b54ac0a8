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
#include "core/select/axis_pass_choice.hpp"
#include "core/select/interpolation_estimate.hpp"
#include "core/select/value_order.hpp"
#include "core/stages/entropy/codebook_choice.hpp"
#include "core/stages/predict/axis_choice.hpp"
#include "core/stages/quantize/quantizer.hpp"

namespace neve {

namespace {

// Where more than this share of the values must be listed exactly, the exact codec may well be smaller.
constexpr double exact_trial_share = 0.05;

// Interpolation takes three times as long as dual_quant: at effort balanced it is not tried where by an
// estimate it takes more than this share of dual_quant's bytes.
constexpr double max_interpolation_share = 0.88;
// `context` learns its models as it goes: sections of fewer bytes may not pay that back, and interpolation's
// codebooks are tried, too.
constexpr uint64_t learnt_bytes = 64 << 10;
// At effort fast axis_passes, which takes a little more time, has to take at most this share of what
// dual_quant would take, both by estimates. Of few bits a value a sample makes too little of dual_quant.
double passes_worth_share(double dual_quant_bits, bool is_of_lines) {
  if (dual_quant_bits < 1) return 1.15;
  if (dual_quant_bits < 1.5) return 1;
  if (dual_quant_bits < 2.2) return 0.95;
  return is_of_lines ? 0.97 : 0.85;  // dual_quant is slower on lines
}
// Where dual_quant takes more bits a value, axis_passes seldom takes less but on lines and beside gaps, next
// to which dual_quant predicts from what is not there.
constexpr double passes_max_bits = 3.6;
// Of fewer cells the sample would take longer than coding them.
constexpr uint64_t passes_min_cells = 256;
// Sections so small are coded by both, and larger ones where few bits a cell are expected.
constexpr uint64_t unsure_cells = 4096, unsure_cells_of_few_bits = 32768;
constexpr uint64_t unsure_cells_of_fewer_bits = 262144;
constexpr double few_bits = 1, fewer_bits = 0.45;
// So many times what was expected says that the sample has missed something.
constexpr double unsure_excess = 1.5, unsure_bytes = 512;
// So many times is worth another sample.
constexpr double second_look_excess = 1.1;
// What is so small is coded by more codecs whatever estimates say, where the effort allows it.
constexpr uint64_t few_bytes = 4096;
// From so many bits a value on lorenzo_regression may take less than codecs that average over neighbours,
// whose noise is as large as the bound.
constexpr double tight_bits = 8;
// What an estimate may lie above what axis_passes takes.
constexpr double estimate_slack = 1.2;
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

// `draft`, which has been begun at that time, or one of `exact` where that is smaller because many values had
// to be listed.
template <class T>
SectionDraft or_exact(SectionDraft draft, uint64_t begin_ns, const SectionSource<T>& source,
                      const ComponentSpec& spec, Effort effort) {
  const bool is_dual_quant = draft.codec == Codec::dual_quant;
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

template <class T>
SectionDraft draft_lossy(const SectionSource<T>& source, const ComponentSpec& spec, Codec codec,
                         Effort effort) {
  const uint64_t begin_ns = thread_time_ns();
  return or_exact(draft_by(codec, source, spec, effort), begin_ns, source, spec, effort);
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

// Whether a decoded value must depend on the original and the spec alone, whatever the codec.
bool is_restored_alike(const ComponentSpec& spec) { return spec.lattice || spec.decodes_alone; }

// Whether it may be worth encoding losslessly what takes so many bytes under its bound. Else a sample of the
// methods decides, which at effort fast would take too long.
template <class T>
bool is_lossless_likely(const SectionSource<T>& source, const ComponentSpec& spec, const Candidate& best) {
  if (lists_many(best.draft(), source.held)) return true;
  const ValueRules<T> rules(spec, make_quantizer<T>(spec));
  return may_be_smaller_lossless(sample_order(source, rules), source.held, best.bytes(), spec.bound_abs);
}

// Puts codec lossless in the place of `best` where it scores more. `is_restored`: decoded values must be
// those that dual_quant would restore, and these are kept bit for bit.
template <class T>
void weigh_lossless_too(const SectionSource<T>& source, const ComponentSpec& spec, Effort effort,
                        bool is_restored, const CandidateScorer& scorer, Candidate& best) {
  // No sample of a section tells whether anything takes less than this.
  constexpr uint64_t max_ratio = 64;
  const bool is_quick = is_restored || effort == Effort::fast;
  const bool may_skip =
      is_quick ? !traits_of(best.draft().codec).keeps_bits : best.bytes() * max_ratio < scorer.raw_bytes;
  if (may_skip && !is_lossless_likely(source, spec, best)) {
    best.trace().passed(Codec::lossless, is_quick ? Fate::few_listed : Fate::unknown);
    return;
  }
  best.settle(effort);
  std::optional<SectionDraft> draft;
  if (is_restored) {
    const RestoredSource<T> restored(source, spec);
    draft = draft_lossless_above(restored.section(), spec, effort, best.score(), best.trace());
  } else {
    draft = draft_lossless_above(source, spec, effort, best.score(), best.trace());
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
bool dual_quant_alone(const ComponentSpec& spec) {
  return spec.lattice || spec.decodes_alone || may_become_missing(spec);
}

// `rival` has not been encoded, because of what it would take by a sample; unknown where that is not finite.
void note_estimated(Codec rival, double bytes, Candidate& best) {
  if (!std::isfinite(bytes)) return best.trace().passed(rival, Fate::unknown);
  best.note_estimated_rival(rival, bytes);
  best.trace().passed({rival, LosslessMethod::automatic, Fate::estimate_too_low,
                       static_cast<uint64_t>(std::min(bytes, 1e18)), 0},
                      Fate::estimate_too_low);
}

template <class T>
AxisPassChoice choose_passes(const SectionSource<T>& source, const ComponentSpec& spec,
                             int64_t max_lines = max_pass_lines) {
  const Quantizer<T> quantizer = make_quantizer<T>(spec);
  return choose_axis_passes(source, quantizer, ValueRules<T>(spec, quantizer), max_lines);
}

template <class T>
bool is_line(const SectionSource<T>& source) {
  return std::all_of(source.rects.begin(), source.rects.end(), [](const RectRows<const T*>& rect) {
    return std::count(rect.size.begin(), rect.size.end(), 1) >= max_frame_dims - 1;
  });
}

// What the two codecs of effort fast would take, by samples.
struct FastChoice {
  AxisChoice axes;
  AxisPassChoice passes{{}, HUGE_VAL};
  double dual_quant_bytes = 0;
  bool is_by_passes = false;
};

template <class T>
FastChoice choose_fast(const SectionSource<T>& source, const ComponentSpec& spec) {
  FastChoice choice;
  choice.axes = choose_axes(source, make_quantizer<T>(spec));
  constexpr double extra_bits = 0.04;  // of Huffman's codes, which have whole bits
  choice.dual_quant_bytes = (choice.axes.bits + extra_bits) * static_cast<double>(source.held) / 8;
  if (dual_quant_alone(spec)) return choice;
  const bool is_of_lines = is_line(source);
  const double share = passes_worth_share(choice.axes.bits, is_of_lines);
  const auto is_by_passes = [&] { return choice.passes.bytes < share * choice.dual_quant_bytes; };
  if (source.held < passes_min_cells) return choice;
  const bool is_likely = choice.axes.bits < passes_max_bits || is_of_lines;
  if (!is_likely && !choice.axes.has_gaps && source.held > unsure_cells_of_few_bits) return choice;
  choice.passes = choose_passes(source, spec, is_likely ? max_pass_lines : pass_lines_at_a_glance);
  if (!is_likely && is_by_passes()) choice.passes = choose_passes(source, spec);
  choice.is_by_passes = is_by_passes();
  return choice;
}

// Whether the sample has missed something of a section that took so much.
bool is_missed(const FastChoice& choice, uint64_t coded_bytes) {
  const double expected = choice.is_by_passes ? choice.passes.bytes : choice.dual_quant_bytes;
  return static_cast<double>(coded_bytes) > unsure_excess * expected + unsure_bytes;
}

// Whether axis_passes, which nothing spoke for, may take less than dual_quant, which has taken more than its
// sample said.
template <class T>
bool is_second_choice(const SectionSource<T>& source, const ComponentSpec& spec, uint64_t coded_bytes,
                      FastChoice& choice) {
  const auto coded = static_cast<double>(coded_bytes);
  if (std::isfinite(choice.passes.bytes) || source.held <= unsure_cells_of_few_bits) return false;
  if (coded < second_look_excess * choice.dual_quant_bytes) return false;
  choice.passes = choose_passes(source, spec);
  return choice.passes.bytes < coded;
}

// Whether samples say so little about a section that it is better coded both ways.
bool is_unsure(const FastChoice& choice, uint64_t held) {
  const double least = std::min(choice.dual_quant_bytes, choice.passes.bytes);
  if (!std::isfinite(choice.passes.bytes)) return false;
  const double bits = least * 8 / static_cast<double>(held);
  return held <= unsure_cells || (held <= unsure_cells_of_few_bits && choice.passes.has_excluded) ||
         (held <= unsure_cells_of_few_bits && bits < few_bits) ||
         (held <= unsure_cells_of_fewer_bits && bits < fewer_bits);
}

// The codec of effort fast: of dual_quant and axis_passes the one that takes less by a sample, coded alone.
template <class T>
SectionDraft select_fast(const SectionSource<T>& source, const ComponentSpec& spec,
                         const CandidateScorer& scorer) {
  const uint64_t begin_ns = thread_time_ns();
  FastChoice choice = choose_fast(source, spec);
  const uint64_t sampled_ns = thread_time_ns();
  const auto draft = [&](bool is_by_passes) {
    const uint64_t drafting_ns = thread_time_ns();
    SectionDraft made = is_by_passes ? draft_axis_passes_by(source, spec, choice.passes.model)
                                     : draft_dual_quant_along(source, spec, choice.axes);
    return Candidate(or_exact(std::move(made), drafting_ns, source, spec, Effort::fast), scorer);
  };
  Candidate best = draft(choice.is_by_passes);
  best.trace().times.weigh_ns += sampled_ns - begin_ns;
  if (dual_quant_alone(spec)) {
    best.trace().passed(Codec::axis_passes, Fate::not_competitive);
  } else if (is_unsure(choice, source.held) || is_missed(choice, best.bytes()) ||
             is_second_choice(source, spec, best.bytes(), choice)) {
    if (!std::isfinite(choice.passes.bytes)) choice.passes = choose_passes(source, spec);
    Candidate other = draft(!choice.is_by_passes);
    if (other.score() > best.score()) std::swap(best, other);
    best.trace().append_loser(other.draft().selection);
    best.note_rival(other);
  } else if (choice.is_by_passes) {
    note_estimated(Codec::dual_quant, choice.dual_quant_bytes, best);
  } else {
    note_estimated(Codec::axis_passes, choice.passes.bytes, best);
  }
  for (const Codec codec : {Codec::context, Codec::lorenzo_regression, Codec::interpolation})
    best.trace().passed(codec, Fate::effort);
  best.settle(Effort::fast);
  weigh_lossless_too(source, spec, Effort::fast, is_restored_alike(spec), scorer, best);
  return best.take();
}

// Encodes what estimates say is worth encoding, and keeps the best. Returns what `rival` would take.
template <class T>
double weigh_rivals(const SectionSource<T>& source, const ComponentSpec& spec, Effort effort,
                    const CandidateScorer& scorer, Candidate& best) {
  const bool is_max = effort == Effort::max;
  const Codec rival = is_max ? Codec::context : Codec::interpolation;
  const uint64_t begin_ns = thread_time_ns();
  const double estimate = estimate_section(source, spec);
  const double passes = choose_passes(source, spec).bytes;
  best.trace().times.weigh_ns += thread_time_ns() - begin_ns;
  const auto weigh = [&](Codec codec) {
    Candidate other(draft_lossy(source, spec, codec, effort), scorer);
    const bool wins = is_better(other, best, effort);
    if (wins) std::swap(best, other);
    best.trace().append_loser(other.draft().selection);
    if (wins || codec == rival) best.note_rival(other);
  };
  // Samples make too much of axis_passes where nearly all residuals are 0.
  const bool is_of_few_bits =
      static_cast<double>(best.bytes()) * 8 < few_bits * static_cast<double>(source.held);
  if (passes < estimate_slack * static_cast<double>(best.bytes()) || best.bytes() < few_bytes ||
      source.held <= unsure_cells_of_few_bits || is_of_few_bits) {
    weigh(Codec::axis_passes);
  } else {
    best.trace().passed(Codec::axis_passes, Fate::estimate_too_low);
  }
  if (is_max || estimate < max_interpolation_share * static_cast<double>(best.bytes())) {
    weigh(rival);
  } else {
    note_estimated(rival, estimate, best);
  }
  if (is_max && (best.bytes() < learnt_bytes || estimate < static_cast<double>(best.bytes())))
    weigh(Codec::interpolation);
  const Codec leader = best.draft().codec;
  const bool is_tight = static_cast<double>(best.bytes()) * 8 > tight_bits * static_cast<double>(source.held);
  const bool is_by_passes = leader == Codec::axis_passes;
  if (is_max ? is_tight || is_by_passes || leader == Codec::dual_quant : is_tight && is_by_passes) {
    weigh(Codec::lorenzo_regression);
  } else {
    best.trace().passed(Codec::lorenzo_regression, is_max ? Fate::not_competitive : Fate::effort);
  }
  return estimate;
}

// The codec that the effort is worth. dual_quant is always tried: beside the others it costs little, and
// what it takes is then known and not guessed.
template <class T>
SectionDraft select_codec(const SectionSource<T>& source, const ComponentSpec& spec, Effort effort) {
  const CandidateScorer scorer{source.held * sizeof(T), spec.tuning};
  if (effort == Effort::fast) return select_fast(source, spec, scorer);
  Candidate best(draft_lossy(source, spec, Codec::dual_quant, effort), scorer);
  if (effort != Effort::max) best.trace().passed(Codec::context, Fate::effort);
  std::optional<double> estimate;
  if (dual_quant_alone(spec)) {
    best.trace().passed(Codec::interpolation, Fate::effort);
    best.trace().passed(Codec::axis_passes, Fate::effort);
    best.trace().passed(Codec::lorenzo_regression, Fate::effort);
  } else {
    estimate = weigh_rivals(source, spec, effort, scorer, best);
  }
  weigh_lossless_too(source, spec, effort, is_restored_alike(spec), scorer, best);
  best.settle(effort);
  SectionDraft draft = best.take();
  if (estimate) draft.interpolation_estimate = *estimate;
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
