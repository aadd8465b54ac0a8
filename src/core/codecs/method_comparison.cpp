// SPDX-License-Identifier: BSD-3-Clause
#include "core/codecs/method_comparison.hpp"

#include <algorithm>
#include <functional>
#include <optional>
#include <utility>

#include "core/catalog/lossless_methods.hpp"
#include "core/codecs/listed_methods.hpp"
#include "core/codecs/lossless_bytes.hpp"
#include "core/codecs/part_trials.hpp"
#include "core/codecs/section_codec.hpp"

namespace neve {

namespace {

// Methods that come so close to the best one of small parts code larger ones: at most so many, and more of
// those that were the best before.
constexpr double close_in_small_parts = 0.87, close_known_one = 0.7;
constexpr size_t most_in_usual_parts = 3;
// Or so close where they are nearly as fast as the fastest one, and speed counts: they cost next to nothing.
constexpr double close_fast_one = 0.7, nearly_as_fast = 0.85;
// What comes out so many times smaller may come out smaller by so much more in larger parts.
constexpr double growing_ratio = 4, most_growth = 1.6;
// Of small steps those that come so close in the usual ones code the whole.
constexpr double close_in_usual_parts = 0.95;
constexpr size_t most_wholes = 2;
// The best few of what comes out many times smaller, where tables and headers are a good part, of compressors
// that find more in larger parts, and those close to ranks, whose table is, code even larger ones.
constexpr double close_by_tables = 0.85, high_ratio = 16, close_to_rank = 0.95;
constexpr size_t most_in_large_parts = 3;
// Slow methods on bytes are so many times slower than the fastest one. None takes so many times less than the
// best; but bzip2, which sorts, than others, and what codes by frequency than what only refers to repeats.
constexpr double slow_times = 4, most_times_smaller = 1.6, most_times_by_sorting = 3,
                 most_times_by_frequency = 6;
// Repeats: by zstd small parts come out so many times smaller, with so much of the best ratio, and larger
// parts so many times smaller than those.
constexpr double ratio_of_repeats = 4, share_of_repeats = 0.2, growth_by_repeats = 1.5;
// What else ends in zstd finds them as well, where it makes of parts so much of what zstd does.
constexpr double alike_by_zstd = 0.5;
// A share of the step.
constexpr double worthwhile_repeats = 0.2;
// Words; LZ4 finds nothing that is farther away, of words whose bytes are shuffled.
constexpr uint64_t lz4_window = 64 << 10;

// bzip2 sorts blocks of 900 kB: what repeats in them but in no part makes the step so many times smaller at
// most.
constexpr double most_growth_in_blocks = 2;

constexpr LosslessMethod by_zstd[] = {LosslessMethod::zstd, LosslessMethod::lorenzo, LosslessMethod::xor_zstd,
                                      LosslessMethod::shuffle_zstd, LosslessMethod::bitshuffle_zstd};

bool codes_by_frequency(LosslessMethod method) {
  return takes_differences(method) ||
         (coder_of(method) != ByteCoder::lzo && coder_of(method) != ByteCoder::lz4);
}

// Of those listed, or of all but ACOMPS' nine, the fastest first.
std::vector<LosslessMethod> candidates_by_speed(LosslessMethods listed, const MethodSpeeds& speeds) {
  const LosslessMethods available = available_methods(listed);
  std::vector<LosslessMethod> methods;
  for (const LosslessMethodTraits& row : lossless_method_rows) {
    if (row.method == LosslessMethod::automatic || !available.has(row.method)) continue;
    if (!listed.is_all() || !acomps_methods.has(row.method)) methods.push_back(row.method);
  }
  std::stable_sort(methods.begin(), methods.end(),
                   [&](LosslessMethod a, LosslessMethod b) { return speeds.of(a) > speeds.of(b); });
  return methods;
}

class Comparison {
 public:
  Comparison(const Step& step, const ArrayOptions& options, const MethodSpeeds& speeds)
      : step_(step),
        options_(options),
        speeds_(speeds),
        candidates_(candidates_by_speed(options.tuning.candidates, speeds)),
        small_(step, options, speeds, small_parts) {}

  Result<MethodComparison> run(const StepPrint& print, const std::vector<LosslessMethod>& also,
                               bool are_known) {
    MethodComparison made;
    NEVE_TRY(code_small_parts());
    made.scores = small_.scores();
    if (small_.is_whole()) made.wholes = small_.take_wholes();
    if (small_.is_whole() || step_.raw_bytes() == 0) return nothing_if_constant(small_, std::move(made));
    PartTrials usual(step_, options_, speeds_, usual_parts);
    NEVE_TRY(code_usual_parts(also, usual, made));
    if (usual.is_constant()) return MethodComparison();
    if (!are_known && !usual.is_whole()) NEVE_TRY(code_larger_parts(usual, made));
    if (!are_known) NEVE_TRY(code_large_blocks(usual, made));
    if (usual.is_whole()) return made;
    NEVE_TRY(code_far_repeats(print, usual, made));
    NEVE_TRY(code_periods(usual, made));
    sort_by_score(made.scores);
    return made;
  }

 private:
  static MethodComparison nothing_if_constant(const PartTrials& trials, MethodComparison made) {
    return trials.is_constant() ? MethodComparison() : std::move(made);
  }
  bool is_candidate(LosslessMethod method) const {
    return std::find(candidates_.begin(), candidates_.end(), method) != candidates_.end();
  }

  Status code_small_parts() {
    double best_ratio = 1, best_score = 0;
    bool by_frequency = false;  // whether any that was coded is
    for (const LosslessMethod method : candidates_) {
      const bool is_slow =
          !takes_differences(method) && speeds_.of(method) * slow_times < speeds_.of(candidates_.front());
      const double times = !by_frequency                          ? most_times_by_frequency
                           : coder_of(method) == ByteCoder::bzip2 ? most_times_by_sorting
                                                                  : most_times_smaller;
      if (is_slow && speeds_.score(method, times * best_ratio, 1, options_.tuning) < best_score) continue;
      NEVE_TRY(small_.code(method));
      by_frequency |= codes_by_frequency(method);
      best_ratio = std::max(best_ratio, small_.ratio(method));
      best_score = std::max(best_score, small_.score(method));
    }
    return {};
  }

  Status code_usual_parts(const std::vector<LosslessMethod>& also, PartTrials& usual,
                          MethodComparison& made) {
    for (const LosslessMethod method : contenders(also)) NEVE_TRY(usual.code(method));
    if (usual.is_whole()) made.wholes = usual.take_wholes();
    take_scores(usual, small_, made.scores);
    return {};
  }

  std::vector<LosslessMethod> contenders(const std::vector<LosslessMethod>& also) const {
    if (small_.is_constant()) return candidates_;
    const std::vector<MethodScore> scores = small_.scores();
    double best_hope = 0;
    for (const MethodScore& entry : scores) best_hope = std::max(best_hope, hope(entry.method));
    std::vector<LosslessMethod> methods;
    size_t close = 0;
    for (const auto& [method, score] : scores) {
      const double share = score / scores.front().score;
      const bool was_best = std::find(also.begin(), also.end(), method) != also.end();
      const bool is_close = share >= close_in_small_parts || hope(method) >= close_in_small_parts * best_hope;
      const bool is_among_few = is_close && (close < most_in_usual_parts || hope(method) == best_hope);
      close += is_close ? 1 : 0;
      if (is_among_few || (was_best && share >= close_known_one) ||
          (is_fast(method) && share >= close_fast_one) || may_repeat(method))
        methods.push_back(method);
    }
    return methods;
  }

  bool is_fast(LosslessMethod method) const {
    return options_.tuning.speed_weight > 0 &&
           speeds_.of(method) >= nearly_as_fast * speeds_.of(candidates_.front());
  }

  // What a method may score in larger parts.
  double hope(LosslessMethod method) const {
    const double ratio = small_.ratio(method), growth = ratio >= growing_ratio ? most_growth : 1;
    return ratio > 0 ? speeds_.score(method, growth * ratio, 1, options_.tuning) : 0;
  }

  bool may_repeat(LosslessMethod method) const {
    if (method != LosslessMethod::zstd && method != LosslessMethod::shuffle_zstd) return false;
    double best = 0;
    for (const LosslessMethod other : candidates_) best = std::max(best, small_.ratio(other));
    return small_.ratio(method) >= std::max(ratio_of_repeats, share_of_repeats * best);
  }

  // Of those that coded no larger parts: where these are harder to code, they would be for others, too.
  void take_scores(const PartTrials& trials, const PartTrials& before,
                   std::vector<MethodScore>& scores) const {
    const std::vector<MethodScore> made = trials.scores();
    if (made.empty()) return;
    const LosslessMethod best = made.front().method;
    double least = made.front().score;  // of those that are close
    for (const MethodScore& entry : made) {
      if (entry.score >= close_known_one * made.front().score) least = entry.score;
    }
    const double times = std::min(1.0, trials.ratio(best) / std::max(1e-9, before.ratio(best)));
    for (MethodScore& entry : scores) {
      const double by_speed = options_.tuning.speed_weight * speeds_.of(entry.method);
      entry.score = trials.has_coded(entry.method)
                        ? trials.score(entry.method)
                        : std::min(least, by_speed + (entry.score - by_speed) * times);
    }
    for (const MethodScore& entry : made) {
      if (std::none_of(scores.begin(), scores.end(),
                       [&](const MethodScore& known) { return known.method == entry.method; }))
        scores.push_back(entry);
    }
    sort_by_score(scores);
  }

  Status code_larger_parts(const PartTrials& usual, MethodComparison& made) {
    if (step_.pieces == 1 && step_.raw_bytes() <= small_step) {
      for (const LosslessMethod method : close_ones(usual, made.scores, close_in_usual_parts, most_wholes))
        NEVE_TRY(code_whole(step_, options_, speeds_, method, made));
      return {};
    }
    const double share = share_for_larger_parts(usual, made.scores);
    PartTrials large(step_, options_, speeds_, large_parts);
    for (const LosslessMethod method : close_ones(usual, made.scores, share, most_in_large_parts))
      NEVE_TRY(large.code(method));
    take_scores(large, usual, made.scores);
    return {};
  }

  static std::vector<LosslessMethod> close_ones(const PartTrials& usual,
                                                const std::vector<MethodScore>& scores, double share,
                                                size_t most) {
    std::vector<LosslessMethod> close;
    for (const MethodScore& entry : scores) {
      if (entry.score >= share * scores.front().score && usual.has_coded(entry.method) && close.size() < most)
        close.push_back(entry.method);
    }
    return close.size() > 1 ? close : std::vector<LosslessMethod>();
  }

  // Methods by bzip2, the best of parts first, as long as each beats those before it.
  Status code_large_blocks(const PartTrials& usual, MethodComparison& made) {
    if (step_.pieces > 1) return {};
    const std::vector<MethodScore> of_parts = made.scores;
    double best = of_parts.empty() ? 0 : of_parts.front().score;
    for (const MethodScore& entry : of_parts) {
      if (coder_of(entry.method) != ByteCoder::bzip2) continue;
      const PartTrials& parts = usual.has_coded(entry.method) ? usual : small_;
      const double hope =
          speeds_.score(entry.method, most_growth_in_blocks * parts.ratio(entry.method), 1, options_.tuning);
      if (hope <= best) continue;
      NEVE_TRY(code_whole(step_, options_, speeds_, entry.method, made));
      if (made.score_of(entry.method) <= best) return {};
      best = made.score_of(entry.method);
    }
    return {};
  }

  // How close methods have to be to the best one for larger parts to tell more; above 1: they do not.
  static double share_for_larger_parts(const PartTrials& usual, const std::vector<MethodScore>& scores) {
    if (scores.size() < 2) return 2;
    const auto finds_more = [](LosslessMethod method) { return coder_of(method) == ByteCoder::bzip2; };
    if (usual.ratio(scores[0].method) > high_ratio ||
        finds_more(scores[0].method) != finds_more(scores[1].method))
      return close_by_tables;
    return usual.score(LosslessMethod::rank) >= close_to_rank * scores[0].score ? close_to_rank : 2;
  }

  // Where the print shows repeats that no part has: what finds them codes the step.
  Status code_far_repeats(const StepPrint& print, const PartTrials& usual, MethodComparison& made) {
    const LosslessMethod finder =
        is_candidate(LosslessMethod::lorenzo) ? LosslessMethod::lorenzo : LosslessMethod::zstd;
    if (!is_candidate(finder) || print.far_repeats() < worthwhile_repeats) return {};
    if (repeats_in(usual.parts().front()) > print.far_repeats() / 2) return {};
    NEVE_TRY(code_whole(step_, options_, speeds_, finder, made));
    const LosslessMethod fast = LosslessMethod::shuffle_lz4;
    if (options_.tuning.speed_weight <= 0 || !is_candidate(fast) || print.repeat_distance >= lz4_window)
      return {};
    return code_whole(step_, options_, speeds_, fast, made);
  }

  double repeats_in(const StepPart& part) const {
    const std::function<const void*(size_t)> values = [&](size_t) {
      return static_cast<const void*>(part.values.data());
    };
    return print_of({step_.dtype, part.shape, 1, values}).far_repeats();
  }

  // Where larger parts come out many times smaller than small ones do: the step by zstd, and, where that
  // beats what parts suggest, by the other methods that may end in zstd and find as much in parts.
  Status code_periods(const PartTrials& usual, MethodComparison& made) {
    const auto has_periods = [&](LosslessMethod method) {
      return usual.ratio(method) > growth_by_repeats * small_.ratio(method) && may_repeat(method);
    };
    const bool in_bytes = has_periods(LosslessMethod::shuffle_zstd);
    if (!has_periods(LosslessMethod::zstd) && !in_bytes) return {};
    const LosslessMethod first =
        is_candidate(LosslessMethod::zstd) ? LosslessMethod::zstd : LosslessMethod::shuffle_zstd;
    const double suggested = made.scores.front().score;
    NEVE_TRY(code_whole(step_, options_, speeds_, first, made));
    if (made.score_of(first) <= suggested) return {};
    for (const LosslessMethod method : by_zstd) {
      if (method == first || !is_candidate(method)) continue;
      const PartTrials& parts = usual.has_coded(method) ? usual : small_;
      if (parts.ratio(method) < alike_by_zstd * parts.ratio(first)) continue;
      NEVE_TRY(code_whole(step_, options_, speeds_, method, made));
    }
    return {};
  }

  const Step& step_;
  const ArrayOptions& options_;
  const MethodSpeeds& speeds_;
  std::vector<LosslessMethod> candidates_;
  PartTrials small_;
};

// Where speed alone counts nothing has to be coded.
MethodComparison by_speed(const CodecTuning& tuning, const MethodSpeeds& speeds) {
  MethodComparison made;
  for (const LosslessMethodTraits& row : lossless_method_rows) {
    if (row.method == LosslessMethod::automatic || row.method == LosslessMethod::rank) continue;
    if (!available_methods(tuning.candidates).has(row.method)) continue;
    made.scores.push_back({row.method, speeds.score(row.method, 0, 1, tuning)});
  }
  sort_by_score(made.scores);
  return made;
}

}  // namespace

void sort_by_score(std::vector<MethodScore>& scores) {
  std::stable_sort(scores.begin(), scores.end(),
                   [](const MethodScore& a, const MethodScore& b) { return a.score > b.score; });
}

double MethodComparison::score_of(LosslessMethod method) const {
  for (const MethodScore& entry : scores) {
    if (entry.method == method) return entry.score;
  }
  return 0;
}

Status code_whole(const Step& step, const ArrayOptions& options, const MethodSpeeds& speeds,
                  LosslessMethod method, MethodComparison& made) {
  if (std::any_of(made.wholes.begin(), made.wholes.end(),
                  [&](const WholeStep& whole) { return whole.method == method; }))
    return {};
  auto encoded =
      encode_pieces(step, with_selection(options, {Codec::lossless, Arrangement::automatic, method}));
  if (!encoded.ok() && method != LosslessMethod::rank) return encoded.status();
  std::erase_if(made.scores, [&](const MethodScore& entry) { return entry.method == method; });
  made.scores.push_back({method, 0});
  if (encoded.ok()) {
    made.scores.back().score = speeds.score(method, static_cast<double>(encoded->report.raw_bytes),
                                            static_cast<double>(encoded->report.frame_bytes), options.tuning);
    made.wholes.push_back({method, std::move(*encoded)});
  }
  sort_by_score(made.scores);
  return {};
}

Result<MethodComparison> compare_methods(const Step& step, const ArrayOptions& options,
                                         const StepPrint& print, const std::vector<LosslessMethod>& also,
                                         const MethodSpeeds& speeds, bool are_known) {
  if (options.tuning.ratio_weight == 0) return by_speed(options.tuning, speeds);
  return Comparison(step, options, speeds).run(print, also, are_known);
}

}  // namespace neve
