// SPDX-License-Identifier: BSD-3-Clause
// The choice between the two codecs of effort fast.
#include <algorithm>
#include <cmath>
#include <utility>

#include "core/codecs/codec_choice.hpp"
#include "core/codecs/codec_drafts.hpp"
#include "core/codecs/lossless_rival.hpp"
#include "core/stages/predict/axis_choice.hpp"
#include "core/threads/thread_clock.hpp"

namespace neve {

namespace {

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
constexpr uint64_t unsure_cells = 4096, unsure_cells_of_fewer_bits = 262144;
constexpr double fewer_bits = 0.45;
// So many times what was expected says that the sample has missed something.
constexpr double unsure_excess = 1.5, unsure_bytes = 512;
// So many times is worth another sample.
constexpr double second_look_excess = 1.1;

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
  double share = 1;  // of what dual_quant takes that axis_passes has to take at most
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
  choice.share = passes_worth_share(choice.axes.bits, is_of_lines);
  const auto is_by_passes = [&] { return choice.passes.bytes < choice.share * choice.dual_quant_bytes; };
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

// Whether axis_passes may take less, where dual_quant has taken more than its sample said. Where nothing
// spoke for axis_passes, it is looked for.
template <class T>
bool look_again(const SectionSource<T>& source, const ComponentSpec& spec, uint64_t coded_bytes,
                FastChoice& choice) {
  const auto coded = static_cast<double>(coded_bytes);
  if (std::isfinite(choice.passes.bytes))
    return !choice.is_by_passes && choice.passes.bytes < choice.share * coded;
  if (source.held <= unsure_cells_of_few_bits) return false;
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

}  // namespace

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
             look_again(source, spec, best.bytes(), choice)) {
    if (!std::isfinite(choice.passes.bytes)) choice.passes = choose_passes(source, spec);
    Candidate other = draft(!choice.is_by_passes);
    if (other.score() > best.score()) std::swap(best, other);
    best.trace().append_loser(other.draft().selection);
    best.note_rival(other);
  } else if (choice.is_by_passes) {
    best.note_estimated(Codec::dual_quant, choice.dual_quant_bytes);
  } else {
    best.note_estimated(Codec::axis_passes, choice.passes.bytes);
  }
  for (const Codec codec : {Codec::context, Codec::lorenzo_regression, Codec::interpolation})
    best.trace().passed(codec, Fate::effort);
  best.settle(Effort::fast);
  weigh_lossless_too(source, spec, Effort::fast, scorer, best);
  return best.take();
}

template SectionDraft select_fast<float>(const SectionSource<float>&, const ComponentSpec&,
                                         const CandidateScorer&);
template SectionDraft select_fast<double>(const SectionSource<double>&, const ComponentSpec&,
                                          const CandidateScorer&);

}  // namespace neve
