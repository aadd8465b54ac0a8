// SPDX-License-Identifier: BSD-3-Clause
#include "core/codecs/codec_choice.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "core/codecs/codec_drafts.hpp"
#include "core/codecs/lossless_rival.hpp"
#include "core/stages/predict/axis_choice.hpp"
#include "core/threads/thread_clock.hpp"

namespace neve {

namespace {

// Interpolation takes three times as long as dual_quant: at effort balanced it is coded first only where by
// an estimate it takes less than this share of dual_quant's bytes.
constexpr double max_interpolation_share = 0.88;
// Its estimate is mostly on the high side, most of all where waves are smooth, which its stencils follow.
// Seldom does it take less than this share of it.
constexpr double least_of_interpolation = 0.57;
// `context` learns its models as it goes: sections of fewer bytes may not pay that back, and interpolation's
// codebooks are tried, too.
constexpr uint64_t learnt_bytes = 64 << 10;
// What is so small is coded by more codecs whatever estimates say, where the effort allows it.
constexpr uint64_t few_bytes = 4096, fewer_bytes = 1024;
// From so many bits a value on lorenzo_regression may take less than codecs that average over neighbours,
// whose noise is as large as the bound.
constexpr double tight_bits = 8;
// Samples say too much or too little: what a codec takes is seldom below this share of its estimate. Fields
// that are calm here and rough there, or repeat, take much less of dual_quant, whose several codebooks and
// runs no sample sees. Where nearly all residuals are 0 no sample says anything of axis_passes.
constexpr double least_of_dual_quant = 0.6, least_of_passes = 0.83, least_of_passes_of_few_bits = 0;
// What axis_passes takes of its estimate on average.
constexpr double mean_of_passes = 0.93;
// So many times what was expected says that samples have missed something.
constexpr double missed_excess = 1.5, missed_bytes = 512;

// What codecs would take, from samples.
struct Samples {
  AxisChoice axes;
  AxisPassChoice passes;
  double dual_quant_bytes = 0, interpolation_bytes = 0;
  bool may_decide = false;  // else dual_quant, which is soon coded, tells more
};

template <class T>
Samples take_samples(const SectionSource<T>& source, const ComponentSpec& spec) {
  Samples s;
  s.axes = choose_axes(source, make_quantizer<T>(spec));
  s.dual_quant_bytes = s.axes.bits * static_cast<double>(source.held) / 8;
  s.passes = choose_passes(source, spec);
  s.interpolation_bytes = estimate_section(source, spec);
  s.may_decide = source.held > unsure_cells_of_few_bits && !s.axes.has_gaps && !s.passes.has_excluded &&
                 spec.tuning.speed_weight == 0;
  return s;
}

double least_share_of_passes(double bytes, uint64_t held) {
  return bytes * 8 < few_bits * static_cast<double>(held) ? least_of_passes_of_few_bits : least_of_passes;
}

// Encodes what samples say is worth encoding, and keeps the best.
template <class T>
class CodecChoice {
 public:
  CodecChoice(const SectionSource<T>& source, const ComponentSpec& spec, Effort effort,
              const CandidateScorer& scorer)
      : source_(source), spec_(spec), effort_(effort), scorer_(scorer), is_max_(effort == Effort::max) {
    const uint64_t begin_ns = thread_time_ns();
    samples_ = take_samples(source, spec);
    sampling_ns_ = thread_time_ns() - begin_ns;
  }

  Candidate take() {
    const Codec first = is_max_ || !samples_.may_decide ? Codec::dual_quant : likeliest();
    Candidate best = draft(first);
    best.trace().times.weigh_ns += sampling_ns_;
    if (!is_max_) best.trace().passed(Codec::context, Fate::effort);
    has_missed_ = static_cast<double>(best.bytes()) > missed_excess * sampled(first) + missed_bytes;
    if (first != Codec::dual_quant) consider(Codec::dual_quant, least_of_dual_quant, best);
    if (first != Codec::axis_passes)
      consider(Codec::axis_passes, least_share_of_passes(static_cast<double>(best.bytes()), source_.held),
               best);
    if (first != Codec::interpolation) consider_rival(best);
    if (is_max_ &&
        (best.bytes() < learnt_bytes || samples_.interpolation_bytes < static_cast<double>(best.bytes())))
      weigh(Codec::interpolation, best);
    consider_lorenzo_regression(best);
    return best;
  }
  double interpolation_bytes() const { return samples_.interpolation_bytes; }

 private:
  double sampled(Codec codec) const {
    return codec == Codec::dual_quant    ? samples_.dual_quant_bytes
           : codec == Codec::axis_passes ? samples_.passes.bytes
                                         : samples_.interpolation_bytes;
  }

  Codec likeliest() const {
    const double passes = samples_.passes.bytes * mean_of_passes, dual_quant = samples_.dual_quant_bytes;
    if (samples_.interpolation_bytes < max_interpolation_share * std::min(passes, dual_quant))
      return Codec::interpolation;
    return passes < dual_quant ? Codec::axis_passes : Codec::dual_quant;
  }

  Candidate draft(Codec codec) const {
    if (codec == Codec::interpolation || codec == Codec::context || codec == Codec::lorenzo_regression)
      return Candidate(draft_lossy(source_, spec_, codec, effort_), scorer_);
    const uint64_t begin_ns = thread_time_ns();
    SectionDraft made = codec == Codec::dual_quant
                            ? draft_dual_quant_along(source_, spec_, samples_.axes)
                            : draft_axis_passes_by(source_, spec_, samples_.passes.model);
    return Candidate(or_exact(std::move(made), begin_ns, source_, spec_, effort_), scorer_);
  }

  void weigh(Codec codec, Candidate& best) const {
    Candidate other = draft(codec);
    const bool wins = is_better(other, best, effort_);
    if (wins) std::swap(best, other);
    best.trace().append_loser(other.draft().selection);
    if (wins || codec == rival()) best.note_rival(other);
  }

  // Where it may take less than the best so far.
  void consider(Codec codec, double least_share, Candidate& best) const {
    const auto best_bytes = static_cast<double>(best.bytes());
    const bool is_small = best.bytes() < few_bytes || source_.held <= unsure_cells_of_few_bits;
    if (is_small || has_missed_ || sampled(codec) * least_share < best_bytes) return weigh(codec, best);
    best.note_estimated(codec, sampled(codec));
  }

  Codec rival() const { return is_max_ ? Codec::context : Codec::interpolation; }
  void consider_rival(Candidate& best) const {
    const double estimate = samples_.interpolation_bytes;
    if (is_max_ || estimate * least_of_interpolation < static_cast<double>(best.bytes())) {
      weigh(rival(), best);
    } else {
      best.note_estimated(rival(), estimate);
    }
  }

  void consider_lorenzo_regression(Candidate& best) const {
    const bool is_tight =
        static_cast<double>(best.bytes()) * 8 > tight_bits * static_cast<double>(source_.held);
    if (is_max_ || best.bytes() < fewer_bytes || (is_tight && best.draft().codec == Codec::axis_passes)) {
      weigh(Codec::lorenzo_regression, best);
    } else {
      best.trace().passed(Codec::lorenzo_regression, Fate::effort);
    }
  }

  const SectionSource<T>& source_;
  const ComponentSpec& spec_;
  Effort effort_;
  const CandidateScorer& scorer_;
  bool is_max_;
  Samples samples_;
  uint64_t sampling_ns_ = 0;
  bool has_missed_ = false;
};

template <class T>
Candidate dual_quant_of_all(const SectionSource<T>& source, const ComponentSpec& spec, Effort effort,
                            const CandidateScorer& scorer) {
  Candidate only(draft_lossy(source, spec, Codec::dual_quant, effort), scorer);
  if (effort != Effort::max) only.trace().passed(Codec::context, Fate::effort);
  for (const Codec codec : {Codec::interpolation, Codec::axis_passes, Codec::lorenzo_regression})
    only.trace().passed(codec, Fate::effort);
  return only;
}

}  // namespace

template <class T>
SectionDraft select_codec(const SectionSource<T>& source, const ComponentSpec& spec, Effort effort) {
  const CandidateScorer scorer{source.held * sizeof(T), spec.tuning};
  if (effort == Effort::fast) return select_fast(source, spec, scorer);
  std::optional<double> estimate;
  std::optional<Candidate> best;
  if (dual_quant_alone(spec)) {
    best = dual_quant_of_all(source, spec, effort, scorer);
  } else {
    CodecChoice<T> choice(source, spec, effort, scorer);
    best = choice.take();
    estimate = choice.interpolation_bytes();
  }
  weigh_lossless_too(source, spec, effort, scorer, *best);
  best->settle(effort);
  SectionDraft draft = best->take();
  if (estimate) draft.interpolation_estimate = *estimate;
  return draft;
}

template SectionDraft select_codec<float>(const SectionSource<float>&, const ComponentSpec&, Effort);
template SectionDraft select_codec<double>(const SectionSource<double>&, const ComponentSpec&, Effort);

}  // namespace neve
