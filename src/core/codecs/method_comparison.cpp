// SPDX-License-Identifier: BSD-3-Clause
#include "core/codecs/method_comparison.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "core/codecs/listed_methods.hpp"
#include "core/codecs/section_codec.hpp"

namespace neve {

namespace {

using Methods = std::array<double, lossless_methods>;

size_t number_of(LosslessMethod method) { return static_cast<size_t>(method); }

// Methods that come so close to the best of a part, or may by their estimates, are coded on all parts: the
// latter up to so many.
constexpr double close_share = 0.9, close_estimate = 0.85;
constexpr size_t most_estimated = 2;
// From such a ratio on, the best few methods code larger parts.
constexpr double high_ratio = 16, close_by_tables = 0.85;
constexpr size_t best_few = 3;
// From such a ratio on, repeats may be what is left to find: parts have few periods of them, a step has many.
constexpr double ratio_of_repeats = 8;
// A share of the step.
constexpr double worthwhile_repeats = 0.2;
// Words; LZ4 finds nothing that is farther away, of words whose bytes are shuffled.
constexpr uint64_t lz4_window = 64 << 10;
// Those so many times slower than the fastest one are coded on the first part alone, and so is what does not
// come so close to the best one there.
constexpr double slow_times = 4, open_share = 0.85;

void sort_by_score(std::vector<MethodScore>& scores) {
  std::stable_sort(scores.begin(), scores.end(),
                   [](const MethodScore& a, const MethodScore& b) { return a.score > b.score; });
}

// What methods make of the parts.
class Comparison {
 public:
  Comparison(const Step& step, const ArrayOptions& options, const MethodSpeeds& speeds)
      : step_(step),
        options_(options),
        speeds_(speeds),
        parts_(parts_of(step, usual_parts)),
        coded_(parts_.size()) {
    options_.encode.explain = true;
    // Of a whole step the frame may be kept; of parts it is trials enough that close ones follow.
    trial_options_ = options_;
    if (!is_whole(step_, parts_)) trial_options_.encode.effort = Effort::fast;
    for (Methods& bytes : coded_) bytes.fill(0);
  }

  Result<MethodComparison> run(const std::vector<LosslessMethod>& also) {
    MethodComparison made;
    std::vector<LosslessMethod> methods;
    for (size_t p = 0; p < parts_.size(); ++p) NEVE_TRY(choose(p, methods, made));
    if (methods.empty()) return made;
    begin_with_the_largest(methods);
    add_fast(methods);
    methods.insert(methods.end(), also.begin(), also.end());
    std::sort(methods.begin(), methods.end());
    methods.erase(std::unique(methods.begin(), methods.end()), methods.end());
    NEVE_TRY(code_open(methods, made));
    sort_by_score(made.scores);
    while (coded_[parts_.size() - 1][number_of(made.scores.front().method)] == 0) {
      NEVE_TRY(code_parts(parts_.size(), made.scores.front().method));
      made.scores.front().score = score(made.scores.front().method);
      sort_by_score(made.scores);
    }
    if (!is_whole(step_, parts_) && needs_larger_parts(made.scores)) NEVE_TRY(code_larger_parts(made.scores));
    return made;
  }

  // Where the print shows repeats that no part has: what finds them codes the step.
  Status code_repeats(const StepPrint& print, MethodComparison& made) {
    const LosslessMethod finder = options_.tuning.candidates.has(LosslessMethod::lorenzo)
                                      ? LosslessMethod::lorenzo
                                      : LosslessMethod::zstd;
    if (!options_.tuning.candidates.has(finder) || made.scores.empty() || is_whole(step_, parts_)) return {};
    if (print.far_repeats() < worthwhile_repeats || repeats_in_part() > print.far_repeats() / 2) return {};
    NEVE_TRY(code_whole(finder, made));
    const LosslessMethod fast = LosslessMethod::shuffle_lz4;
    if (options_.tuning.speed_weight > 0 && options_.tuning.candidates.has(fast) &&
        print.repeat_distance < lz4_window)
      NEVE_TRY(code_whole(fast, made));
    sort_by_score(made.scores);
    return {};
  }

  // Where parts come out many times smaller: the step by zstd, which is fast there; and, where that beats
  // what parts suggest, by the other methods that may end in zstd.
  Status code_periods(MethodComparison& made) {
    if (made.scores.empty() || best_ratio() < ratio_of_repeats) return {};
    const double suggested = made.scores.front().score;
    bool is_first = true;
    for (const LosslessMethod method :
         {LosslessMethod::zstd, LosslessMethod::lorenzo, LosslessMethod::xor_zstd,
          LosslessMethod::shuffle_zstd, LosslessMethod::bitshuffle_zstd}) {
      if (!options_.tuning.candidates.has(method)) continue;
      if (!has_coded_step(method, made)) NEVE_TRY(code_whole(method, made));
      if (is_first && made.score_of(method) <= suggested) break;
      is_first = false;
    }
    sort_by_score(made.scores);
    return {};
  }

 private:
  // By samples and trials of the part; adds what won, and what came close.
  Status choose(size_t p, std::vector<LosslessMethod>& methods, MethodComparison& made) {
    FrameReport report;
    NEVE_ASSIGN(std::vector<std::byte> frame,
                encode_array(step_.dtype, parts_[p].shape, parts_[p].values.data(), trial_options_, &report));
    const LosslessMethod won = report.components.front().method;
    if (report.components.front().codec != Codec::lossless) return {};
    take(p, report);
    methods.push_back(won);
    const double best = score_on(p, won);
    for (size_t m = 1; m < coded_[p].size(); ++m) {
      const auto method = static_cast<LosslessMethod>(m);
      if (coded_[p][m] > 0 && score_on(p, method) > close_share * best) methods.push_back(method);
    }
    add_estimated(p, report, close_estimate * best, methods);
    forget_other_levels(p);
    if (is_whole(step_, parts_)) made.wholes.push_back({won, encoded_whole(step_, std::move(frame), report)});
    return {};
  }

  // The part that says most: others may hold next to nothing.
  void begin_with_the_largest(const std::vector<LosslessMethod>& methods) {
    const auto bytes = [&](size_t p) {
      double least = HUGE_VAL;
      for (const LosslessMethod method : methods) {
        const double coded = coded_[p][number_of(method)];
        if (coded > 0) least = std::min(least, coded);
      }
      return std::isfinite(least) ? least : 0;
    };
    size_t largest = 0;
    for (size_t p = 1; p < parts_.size(); ++p) {
      if (bytes(p) > bytes(largest)) largest = p;
    }
    std::swap(parts_[0], parts_[largest]);
    std::swap(coded_[0], coded_[largest]);
  }

  // All parts by the methods that the first part leaves open.
  Status code_open(const std::vector<LosslessMethod>& methods, MethodComparison& made) {
    double fastest = 0, best = 0;
    for (const LosslessMethod method : methods) {
      NEVE_TRY(code_parts(1, method));
      fastest = std::max(fastest, speeds_.of(method));
      best = std::max(best, score_on(0, method));
    }
    for (const LosslessMethod method : methods) {
      const bool is_slow = speeds_.of(method) * slow_times < fastest;
      if (!is_slow && score_on(0, method) > open_share * best) NEVE_TRY(code_parts(parts_.size(), method));
      made.scores.push_back({method, score(method)});
    }
    return {};
  }

  Status code_whole(LosslessMethod method, MethodComparison& made) {
    NEVE_ASSIGN(
        EncodedStep encoded,
        encode_pieces(step_, with_selection(options_, {Codec::lossless, Arrangement::automatic, method})));
    const double score = speeds_.score(method, static_cast<double>(encoded.report.raw_bytes),
                                       static_cast<double>(encoded.report.frame_bytes), options_.tuning);
    std::erase_if(made.scores, [&](const MethodScore& entry) { return entry.method == method; });
    made.scores.push_back({method, score});
    made.wholes.push_back({method, std::move(encoded)});
    return {};
  }

  bool has_coded_step(LosslessMethod method, const MethodComparison& made) const {
    if (is_whole(step_, parts_) && coded_[0][number_of(method)] > 0) return true;
    return std::any_of(made.wholes.begin(), made.wholes.end(),
                       [&](const WholeStep& whole) { return whole.method == method; });
  }

  double repeats_in_part() const {
    const StepPart& part = parts_.front();
    const std::function<const void*(size_t)> values = [&](size_t) {
      return static_cast<const void*>(part.values.data());
    };
    return print_of({step_.dtype, part.shape, 1, values}).far_repeats();
  }

  // Of what comes out many times smaller, tables and headers are a good part where parts are small; and there
  // are compressors that find more in larger ones.
  bool needs_larger_parts(const std::vector<MethodScore>& scores) const {
    if (scores.size() < 2) return false;
    if (ratio(scores[0].method) > high_ratio) return scores[1].score > close_by_tables * scores[0].score;
    if (scores[1].score < close_estimate * scores[0].score) return false;
    const auto gains = [](LosslessMethod method) { return coder_of(method) == ByteCoder::bzip2; };
    return gains(scores[0].method) != gains(scores[1].method);
  }

  // The best few code more of the step.
  Status code_larger_parts(std::vector<MethodScore>& scores) {
    parts_ = parts_of(step_, large_parts);
    coded_.assign(parts_.size(), Methods{});
    for (size_t i = 0; i < std::min(scores.size(), best_few); ++i) {
      NEVE_TRY(code_parts(parts_.size(), scores[i].method));
      scores[i].score = score(scores[i].method);
    }
    // The others were worse, and by larger parts they would be as much.
    sort_by_score(scores);
    return {};
  }

  // What nothing has to be said for where speed counts: it costs next to nothing.
  void add_fast(std::vector<LosslessMethod>& methods) const {
    if (options_.tuning.speed_weight <= 0) return;
    for (const LosslessMethod method :
         {LosslessMethod::lz4, LosslessMethod::shuffle_lz4, LosslessMethod::bitshuffle_lz4}) {
      if (options_.tuning.candidates.has(method)) methods.push_back(method);
    }
  }

  // What the effort of trials codes otherwise than that of the step.
  void forget_other_levels(size_t p) {
    if (trial_options_.encode.effort == options_.encode.effort) return;
    for (size_t m = 1; m < coded_[p].size(); ++m) {
      if (coder_of(static_cast<LosslessMethod>(m)) == ByteCoder::zstd) coded_[p][m] = 0;
    }
  }

  // Those with the highest estimates above a score that were not coded.
  void add_estimated(size_t p, const FrameReport& report, double least_score,
                     std::vector<LosslessMethod>& methods) const {
    const auto raw = static_cast<double>(parts_[p].values.size());
    std::vector<MethodScore> estimated;
    for (size_t m = 1; m < coded_[p].size(); ++m) {
      const auto method = static_cast<LosslessMethod>(m);
      const CandidateSums& sums =
          report.selections.front().candidates[candidate_place(Codec::lossless, method)];
      if (coded_[p][m] > 0 || sums.estimated_bytes == 0) continue;
      const double score =
          speeds_.score(method, raw, static_cast<double>(sums.estimated_bytes), options_.tuning);
      if (score > least_score) estimated.push_back({method, score});
    }
    sort_by_score(estimated);
    for (size_t i = 0; i < std::min(estimated.size(), most_estimated); ++i)
      methods.push_back(estimated[i].method);
  }

  // The first parts.
  Status code_parts(size_t count, LosslessMethod method) {
    for (size_t p = 0; p < count; ++p) NEVE_TRY(code(p, method));
    return {};
  }

  Status code(size_t p, LosslessMethod method) {
    if (coded_[p][number_of(method)] > 0) return {};
    ArrayOptions options = options_;
    options.codec = Codec::lossless;
    options.tuning.method = method;
    FrameReport report;
    const auto frame = encode_array(step_.dtype, parts_[p].shape, parts_[p].values.data(), options, &report);
    // (Ranks may not be able to hold the values.)
    if (!frame.ok() && method != LosslessMethod::rank) return frame.status();
    coded_[p][number_of(method)] = HUGE_VAL;
    if (!frame.ok()) return {};
    take(p, report);
    // (Of one value; it is the same by any method.)
    if (report.components.front().codec != Codec::lossless)
      coded_[p][number_of(method)] = static_cast<double>(frame->size());
    return {};
  }

  void take(size_t p, const FrameReport& report) {
    for (size_t m = 1; m < coded_[p].size(); ++m) {
      const auto method = static_cast<LosslessMethod>(m);
      const CandidateSums& sums =
          report.selections.front().candidates[candidate_place(Codec::lossless, method)];
      const auto has_fate = [&](Fate fate) { return sums.sections[static_cast<size_t>(fate)] > 0; };
      if (sums.coded_bytes > 0) {
        coded_[p][m] = static_cast<double>(sums.coded_bytes);
      } else if (has_fate(Fate::many_values) || has_fate(Fate::no_unit)) {
        coded_[p][m] = HUGE_VAL;  // it would hold little of the values
      }
    }
  }

  // Of all methods that coded all parts.
  double best_ratio() const {
    double best = 0;
    for (size_t m = 1; m < lossless_methods; ++m) {
      const auto method = static_cast<LosslessMethod>(m);
      const bool has_coded =
          std::all_of(coded_.begin(), coded_.end(), [&](const Methods& bytes) { return bytes[m] > 0; });
      if (has_coded) best = std::max(best, ratio(method));
    }
    return best;
  }

  double ratio(LosslessMethod method) const {
    double raw = 0, bytes = 0;
    for (size_t p = 0; p < parts_.size(); ++p) {
      raw += static_cast<double>(parts_[p].values.size());
      bytes += coded_[p][number_of(method)];
    }
    return raw / bytes;
  }
  double score_on(size_t p, LosslessMethod method) const {
    return speeds_.score(method, static_cast<double>(parts_[p].values.size()), coded_[p][number_of(method)],
                         options_.tuning);
  }
  // Of the parts that the method coded.
  double score(LosslessMethod method) const {
    double raw = 0, bytes = 0;
    for (size_t p = 0; p < parts_.size(); ++p) {
      const double coded = coded_[p][number_of(method)];
      if (coded <= 0) continue;
      raw += static_cast<double>(parts_[p].values.size());
      bytes += coded;
    }
    return std::isfinite(bytes) ? speeds_.score(method, raw, bytes, options_.tuning) : 0;
  }

  const Step& step_;
  ArrayOptions options_, trial_options_;
  const MethodSpeeds& speeds_;
  std::vector<StepPart> parts_;
  std::vector<Methods> coded_;  // bytes of each part by each method; 0: not coded
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

double MethodComparison::score_of(LosslessMethod method) const {
  for (const MethodScore& entry : scores) {
    if (entry.method == method) return entry.score;
  }
  return 0;
}

Result<MethodComparison> compare_methods(const Step& step, const ArrayOptions& options,
                                         const StepPrint& print, const std::vector<LosslessMethod>& also,
                                         const MethodSpeeds& speeds) {
  if (options.tuning.ratio_weight == 0) return by_speed(options.tuning, speeds);
  Comparison comparison(step, options, speeds);
  NEVE_ASSIGN(MethodComparison made, comparison.run(also));
  NEVE_TRY(comparison.code_repeats(print, made));
  NEVE_TRY(comparison.code_periods(made));
  return made;
}

}  // namespace neve
