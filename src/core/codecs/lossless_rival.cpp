// SPDX-License-Identifier: BSD-3-Clause
#include "core/codecs/lossless_rival.hpp"

#include <optional>
#include <utility>
#include <vector>

#include "core/codecs/codec_drafts.hpp"
#include "core/codecs/reconstruct.hpp"
#include "core/sections/middle_part.hpp"
#include "core/select/value_order.hpp"
#include "core/stages/quantize/quantizer.hpp"
#include "core/threads/thread_clock.hpp"

namespace neve {

namespace {

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

// Whether it may be worth encoding losslessly what takes so many bytes under its bound. Else a sample of the
// methods decides, which takes too long but at effort max.
template <class T>
bool is_lossless_likely(const SectionSource<T>& source, const ComponentSpec& spec, Effort effort,
                        const Candidate& best) {
  if (lists_many(best.draft(), source.held)) return true;
  const ValueRules<T> rules(spec, make_quantizer<T>(spec));
  const uint64_t ordinary = source.held - best.draft().report.special_cells;
  if (ordinary == 0) return true;
  const double bits = static_cast<double>(best.bytes()) * 8 / static_cast<double>(ordinary);
  return may_be_smaller_lossless(sample_order(source, rules, bits), ordinary, best.bytes(), spec.bound_abs,
                                 effort == Effort::fast ? 2 : 4);
}

// Codec lossless above a score, on the values that the section decodes to.
template <class T>
std::optional<SectionDraft> draft_rival(const SectionSource<T>& source, const ComponentSpec& spec,
                                        Effort effort, double score_to_beat, SelectionTrace& losers,
                                        Scope scope) {
  if (!is_restored_alike(spec))
    return draft_lossless_above(source, spec, effort, score_to_beat, losers, scope);
  const RestoredSource<T> restored(source, spec);
  return draft_lossless_above(restored.section(), spec, effort, score_to_beat, losers, scope);
}

// Whether a small part alone takes clearly more than `best` does for the whole section, as most do that a
// sample was wrong about: what repeats in the section has to stand in it once. Not every method is tried on
// the part, hence `clearly`.
template <class T>
bool is_beaten_by_part(const SectionSource<T>& source, const ComponentSpec& spec, Effort effort,
                       const Candidate& best) {
  constexpr int64_t min_part_cells = 4096;
  constexpr double clearly = 1.25;
  if (spec.tuning.speed_weight > 0) return false;  // else a score is a ratio
  int64_t cells = 0;
  for (const auto& rect : source.rects) cells += rect.cells();
  for (const int64_t parts : {16, 4}) {
    if (cells < parts * min_part_cells) continue;
    const SectionSource<T> part = middle_part(source, cells / parts);
    // It can take no more than its values do.
    constexpr double telling = 2;
    const double most_bytes = static_cast<double>(part.held * sizeof(T));
    if (most_bytes < telling * static_cast<double>(best.bytes())) continue;
    // The part's bytes as many as the section's.
    const double same_bytes =
        best.score() * static_cast<double>(part.held) / static_cast<double>(source.held);
    SelectionTrace ignored;
    if (!draft_rival(part, spec, effort, same_bytes / clearly, ignored, Scope::part)) return true;
  }
  return false;
}

}  // namespace

template <class T>
void weigh_lossless_too(const SectionSource<T>& source, const ComponentSpec& spec, Effort effort,
                        const CandidateScorer& scorer, Candidate& best) {
  // No sample of a section tells whether anything takes less than this.
  constexpr uint64_t max_ratio = 64;
  const bool is_restored = is_restored_alike(spec);
  const bool is_quick = is_restored || effort != Effort::max;
  const bool may_skip =
      is_quick ? !traits_of(best.draft().codec).keeps_bits : best.bytes() * max_ratio < scorer.raw_bytes;
  if (may_skip && !is_lossless_likely(source, spec, effort, best)) {
    best.trace().passed(Codec::lossless, is_quick ? Fate::few_listed : Fate::unknown);
    return;
  }
  best.settle(effort);
  if (may_skip && is_quick) {
    const uint64_t begin_ns = thread_time_ns();
    const bool is_beaten = is_beaten_by_part(source, spec, effort, best);
    best.trace().times.weigh_ns += thread_time_ns() - begin_ns;
    if (is_beaten) return best.trace().passed(Codec::lossless, Fate::estimate_too_low);
  }
  std::optional<SectionDraft> draft =
      draft_rival(source, spec, effort, best.score(), best.trace(), Scope::section);
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

template void weigh_lossless_too<float>(const SectionSource<float>&, const ComponentSpec&, Effort,
                                        const CandidateScorer&, Candidate&);
template void weigh_lossless_too<double>(const SectionSource<double>&, const ComponentSpec&, Effort,
                                         const CandidateScorer&, Candidate&);

}  // namespace neve
