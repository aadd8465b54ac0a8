// SPDX-License-Identifier: BSD-3-Clause
#include "core/codecs/codec_choice.hpp"

#include <optional>
#include <utility>

#include "core/codecs/codec_drafts.hpp"
#include "core/codecs/lossless_rival.hpp"

namespace neve {

namespace {

// Interpolation takes three times as long as dual_quant: at effort balanced it is not tried where by an
// estimate it takes more than this share of dual_quant's bytes.
constexpr double max_interpolation_share = 0.88;
// `context` learns its models as it goes: sections of fewer bytes may not pay that back, and interpolation's
// codebooks are tried, too.
constexpr uint64_t learnt_bytes = 64 << 10;
// What is so small is coded by more codecs whatever estimates say, where the effort allows it.
constexpr uint64_t few_bytes = 4096, fewer_bytes = 1024;
// From so many bits a value on lorenzo_regression may take less than codecs that average over neighbours,
// whose noise is as large as the bound.
constexpr double tight_bits = 8;
// What an estimate may lie above what axis_passes takes.
constexpr double estimate_slack = 1.2;

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
    best.note_estimated(rival, estimate);
  }
  if (is_max && (best.bytes() < learnt_bytes || estimate < static_cast<double>(best.bytes())))
    weigh(Codec::interpolation);
  const bool is_tight = static_cast<double>(best.bytes()) * 8 > tight_bits * static_cast<double>(source.held);
  if (is_max || best.bytes() < fewer_bytes || (is_tight && best.draft().codec == Codec::axis_passes)) {
    weigh(Codec::lorenzo_regression);
  } else {
    best.trace().passed(Codec::lorenzo_regression, Fate::effort);
  }
  return estimate;
}

}  // namespace

// dual_quant is always tried: beside the others it costs little, and what it takes is then known and not
// guessed.
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
  weigh_lossless_too(source, spec, effort, scorer, best);
  best.settle(effort);
  SectionDraft draft = best.take();
  if (estimate) draft.interpolation_estimate = *estimate;
  return draft;
}

template SectionDraft select_codec<float>(const SectionSource<float>&, const ComponentSpec&, Effort);
template SectionDraft select_codec<double>(const SectionSource<double>&, const ComponentSpec&, Effort);

}  // namespace neve
