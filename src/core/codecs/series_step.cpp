// SPDX-License-Identifier: BSD-3-Clause
#include "core/codecs/series_step.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/codecs/method_comparison.hpp"
#include "core/stages/lossless/value_ranks.hpp"
#include "core/threads/thread_clock.hpp"
#include "neve/selection_memory.hpp"

namespace neve {

namespace {

// Where comparisons find nothing new, values have to change more for another one, up to so many times.
constexpr double least_tolerance = 1.5, most_tolerance = 4;
// After so many in a row, one is made every other step at most.
constexpr int many_in_vain = 4;
// But where values have changed so many times as much as is tolerated.
constexpr double far_away = 3;
// Another method is taken where it is better by such a share of delta.
constexpr double rival_share = 0.4;
// Of methods that parts suggest, against what is known of others.
constexpr int most_verified = 2;
// A performance that has left that of the last comparison leaves it anew when it is so many times as far.
constexpr double much_farther = 1.25;
// Sizes of steps up to so many times the other are alike.
constexpr double alike_sizes = 1.25;
// Parts that promised so much more than the step gave are not like the rest of it.
constexpr double misled_share = 0.85;
// A performance that has risen says nothing of others that performed so much worse.
constexpr double far_behind = 0.5;

Selection lossless_by(LosslessMethod method) { return {Codec::lossless, Arrangement::automatic, method}; }

class KeptStep {
 public:
  KeptStep(const Step& step, const ArrayOptions& options, const ChoiceRules& rules, SeriesState& state,
           Choice& choice)
      : step_(step), options_(options), rules_(rules), state_(state), choice_(choice) {}

  Result<EncodedStep> run() {
    const uint64_t begin_ns = thread_time_ns();
    MethodComparison compared;
    NEVE_TRY(decide(compared));
    choice_.choosing_ns = thread_time_ns() - begin_ns;
    NEVE_ASSIGN(EncodedStep encoded, encode(compared));
    NEVE_TRY(check_choice(compared, encoded));
    judge(encoded);
    if (has_drifted_) NEVE_TRY(choose_again(encoded));
    complete(encoded);
    return encoded;
  }

 private:
  bool is_by_typical_speed() const {
    return options_.tuning.ratio_weight == 0 && rules_.speeds == Speeds::typical;
  }

  // What is kept, before the step is coded.
  Status decide(MethodComparison& compared) {
    if (is_by_typical_speed()) return {};  // the choice is the same at every step, and takes no time
    print_ = print_of(step_);
    compare_with_alike();
    ++state_.steps_since;
    const bool is_first = !state_.kept;
    const bool is_due = state_.steps_since >= SelectionMemory::steps_between_trials;
    if (!is_first && !is_due && !is_rank_back_ && !has_changed()) return {};
    NEVE_ASSIGN(compared, compare());
    if (compared.scores.empty()) return {};
    const LosslessMethod best = compared.scores.front().method;
    if (is_first) {
      keep(best, ChoiceReason::first);
    } else if (best != *state_.kept && gain(compared) > rival_share * rules_.delta) {
      keep(best, ChoiceReason::rival);
    } else if (is_due) {
      choice_.reason = ChoiceReason::due;
    }
    note_estimates(compared);
    return {};
  }

  // What methods make of whole steps says nothing of steps of another size, nor that ranks could not hold the
  // values of a larger one.
  void compare_with_alike() {
    const uint64_t values = step_.piece_values();
    if (values < state_.values_without_rank && (values <= max_ranks || cannot_hold(LosslessMethod::rank))) {
      state_.whole_scores.erase(LosslessMethod::rank);
      state_.values_without_rank = 0;
      is_rank_back_ = true;
    }
    const auto bytes = static_cast<double>(step_.raw_bytes()),
               known = static_cast<double>(state_.whole_bytes);
    if (bytes <= alike_sizes * known && known <= alike_sizes * bytes) return;
    state_.whole_scores.clear();
    state_.whole_bytes = step_.raw_bytes();
  }

  bool has_changed() const {
    const double distance = print_.distance(state_.print) / state_.tolerance;
    const bool pauses = state_.in_vain >= many_in_vain && state_.steps_since < 2;
    return distance > (pauses ? far_away : 1);
  }

  Result<MethodComparison> compare() {
    is_compared_ = true;
    begin_anew(print_);
    NEVE_ASSIGN(MethodComparison compared, compare_methods(step_, options_, state_.print, state_.best_ones,
                                                           state_.speeds, !state_.whole_scores.empty()));
    if (compared.scores.empty()) return compared;
    if (compared.score_of(LosslessMethod::rank) == 0) state_.values_without_rank = step_.piece_values();
    NEVE_TRY(mend(compared));
    const LosslessMethod best = compared.scores.front().method;
    const bool is_new = best != state_.last_best;
    state_.in_vain = is_new ? 0 : state_.in_vain + 1;
    state_.tolerance = is_new ? least_tolerance : std::min(most_tolerance, 2 * state_.tolerance);
    note_best(best);
    state_.rival = compared.scores.size() > 1 ? compared.scores[1].score : 0;
    return compared;
  }

  // By what methods are known to make of whole steps: parts say how others compare with them. Where another
  // one seems the best, it codes the step.
  Status mend(MethodComparison& compared) {
    for (const WholeStep& whole : compared.wholes) know(whole.method, performance_of(whole.encoded));
    const double times = times_better_of_steps(compared);
    const double speed_weight = options_.tuning.speed_weight;
    for (MethodScore& entry : compared.scores) {
      const double by_speed = speed_weight * state_.speeds.of(entry.method);
      entry.score = is_known(entry.method) ? state_.whole_scores[entry.method]
                                           : by_speed + (entry.score - by_speed) * times;
    }
    sort_by_score(compared.scores);
    for (int i = 0; i < most_verified; ++i) {
      const LosslessMethod suggested = compared.scores.front().method;
      if (is_known(suggested) || state_.whole_scores.empty()) break;
      NEVE_TRY(code_whole(step_, options_, state_.speeds, suggested, compared));
      know(suggested, compared.score_of(suggested));
    }
    return {};
  }

  // The ratio of steps over that of parts, by the best method of parts of which both are known.
  double times_better_of_steps(const MethodComparison& compared) const {
    for (const MethodScore& entry : compared.scores) {
      const auto known = state_.whole_scores.find(entry.method);
      const double by_speed = options_.tuning.speed_weight * state_.speeds.of(entry.method);
      if (known != state_.whole_scores.end() && known->second > by_speed && entry.score > by_speed)
        return (known->second - by_speed) / (entry.score - by_speed);
    }
    return 1;
  }

  void know_no_rank() {
    know(LosslessMethod::rank, 0);
    state_.values_without_rank = step_.piece_values();
  }
  bool cannot_hold(LosslessMethod method) const {
    const auto known = state_.whole_scores.find(method);
    return known != state_.whole_scores.end() && known->second == 0;
  }
  bool is_known(LosslessMethod method) const { return state_.whole_scores.count(method) > 0; }
  void know(LosslessMethod method, double score) { state_.whole_scores[method] = score; }

  // To look for changes since this step.
  void begin_anew(StepPrint print) {
    if (print.distance(state_.print) > far_away) {
      state_.whole_scores.clear();
    } else {
      print.remember_repeats(state_.print);
    }
    state_.print = print;
    state_.steps_since = 0;
    state_.performance = state_.drifted = 0;
    state_.rival = HUGE_VAL;
  }

  void note_best(LosslessMethod best) {
    state_.last_best = best;
    if (std::find(state_.best_ones.begin(), state_.best_ones.end(), best) == state_.best_ones.end())
      state_.best_ones.push_back(best);
  }

  // By how much the best method is better than the kept one.
  double gain(const MethodComparison& compared) const {
    const double kept = compared.score_of(*state_.kept);
    return kept > 0 ? compared.scores.front().score / kept - 1 : HUGE_VAL;
  }

  void keep(LosslessMethod method, ChoiceReason reason) {
    state_.kept = method;
    ++state_.decisions;
    choice_.reason = reason;
  }

  // In the log.
  void note_estimates(const MethodComparison& compared) {
    if (!state_.kept) return;
    choice_.estimate = choice_.rival_estimate = 0;
    choice_.rival = {};
    for (const MethodScore& entry : compared.scores) {
      const double score = is_known(entry.method) ? state_.whole_scores[entry.method] : entry.score;
      if (entry.method == *state_.kept) {
        choice_.estimate = score;
      } else if (score > choice_.rival_estimate) {
        choice_.rival = lossless_by(entry.method);
        choice_.rival_estimate = score;
      }
    }
  }

  Result<EncodedStep> encode(MethodComparison& compared) {
    if (!state_.kept) return encode_pieces(step_, options_);
    for (WholeStep& whole : compared.wholes) {
      if (whole.method != *state_.kept) continue;
      EncodedStep encoded = std::move(whole.encoded);
      choice_.choosing_ns -= std::min(choice_.choosing_ns, encoded.choosing_ns + encoded.coding_ns);
      return encoded;
    }
    auto encoded = encode_pieces(step_, with_selection(options_, lossless_by(*state_.kept)));
    // Ranks may no longer be able to hold the values: then another method is chosen.
    if (encoded.ok() || *state_.kept != LosslessMethod::rank) return encoded;
    return encode_without_rank(compared);
  }

  Result<EncodedStep> encode_without_rank(const MethodComparison& compared) {
    // The next best of those that were compared, or of all.
    ArrayOptions options = options_;
    const auto next = std::find_if(
        compared.scores.begin(), compared.scores.end(),
        [](const MethodScore& entry) { return entry.method != LosslessMethod::rank && entry.score > 0; });
    if (next != compared.scores.end()) options = with_selection(options_, lossless_by(next->method));
    NEVE_ASSIGN(EncodedStep encoded, encode_pieces(step_, options));
    const LosslessMethod method = encoded.report.selection.method;
    is_compared_ = true;
    if (method == LosslessMethod::automatic || method == LosslessMethod::rank) return encoded;
    begin_anew(print_);
    know_no_rank();
    note_best(method);
    if (choice_.reason == ChoiceReason::first) {
      state_.kept = method;  // the first choice, still
    } else {
      keep(method, ChoiceReason::drift);
    }
    note_estimates(compared);
    return encoded;
  }

  // Where parts misled the choice that was just made, those that they rate above what came of it code the
  // step as well, and the best stays.
  Status check_choice(const MethodComparison& compared, EncodedStep& encoded) {
    const bool is_new = choice_.reason == ChoiceReason::first || choice_.reason == ChoiceReason::rival;
    if (!is_new || !state_.kept || performance_of(encoded) >= misled_share * choice_.estimate) return {};
    int tried = 0;
    for (const MethodScore& entry : compared.scores) {
      if (tried == most_verified || entry.score <= performance_of(encoded)) break;
      if (entry.method == *state_.kept || is_known(entry.method)) continue;
      ++tried;
      auto other = encode_pieces(step_, with_selection(options_, lossless_by(entry.method)));
      if (!other.ok() && entry.method != LosslessMethod::rank) return other.status();
      if (!other.ok()) {
        know_no_rank();
        continue;
      }
      know(entry.method, performance_of(*other));
      const bool is_better = performance_of(*other) > performance_of(encoded);
      if (is_better) std::swap(encoded, *other);
      choice_.choosing_ns += other->choosing_ns + other->coding_ns;
      if (!is_better) continue;
      know(*state_.kept, performance_of(*other));
      state_.kept = entry.method;
      note_best(entry.method);
    }
    note_estimates(compared);
    return {};
  }

  double performance_of(const EncodedStep& encoded) const {
    const double raw = static_cast<double>(encoded.report.raw_bytes),
                 coded = static_cast<double>(encoded.report.frame_bytes);
    const Selection& selection = encoded.report.selection;
    if (selection.codec == Codec::lossless)
      return state_.speeds.score(selection.method, raw, coded, options_.tuning);
    return selection_score(selection.codec, selection.method, raw, coded, options_.tuning);
  }

  // Whether what is kept performs as it did when it was compared.
  void judge(const EncodedStep& encoded) {
    const Selection& selection = encoded.report.selection;
    if (!state_.kept || selection != lossless_by(*state_.kept)) return;  // of one value, or nothing to keep
    state_.speeds.add(selection.method, encoded.report.raw_bytes, encoded.coding_ns);
    const double performance = performance_of(encoded);
    know(selection.method, performance);
    if (state_.performance == 0) {
      state_.performance = performance;
      return;
    }
    if (has_risen_alone(performance)) return;
    const double left = std::abs(performance / state_.performance - 1);
    has_drifted_ = !is_compared_ && left > std::max(rules_.delta, much_farther * state_.drifted);
    state_.drifted = std::max(state_.drifted, left);
  }

  bool has_risen_alone(double performance) const {
    return performance > state_.performance && state_.rival < far_behind * state_.performance;
  }

  // The step is compared, and coded again at once where another method is expected to be better, and is.
  Status choose_again(EncodedStep& encoded) {
    choice_.reason = ChoiceReason::drift;
    is_compared_ = true;
    const uint64_t begin_ns = thread_time_ns();
    NEVE_ASSIGN(const MethodComparison compared,
                compare_methods(step_, options_, print_, state_.best_ones, state_.speeds,
                                !state_.whole_scores.empty()));
    choice_.choosing_ns += thread_time_ns() - begin_ns;
    note_estimates(compared);
    if (compared.scores.empty()) return {};
    const auto front = std::find_if(compared.scores.begin(), compared.scores.end(),
                                    [&](const MethodScore& entry) { return !cannot_hold(entry.method); });
    if (front == compared.scores.end()) return {};
    const LosslessMethod best = front->method;
    if (best == *state_.kept || !(front->score > compared.score_of(*state_.kept))) return {};
    auto again = encode_pieces(step_, with_selection(options_, lossless_by(best)));
    if (!again.ok() && best != LosslessMethod::rank) return again.status();
    if (!again.ok()) {
      know_no_rank();
      return {};
    }
    const bool is_better = performance_of(*again) > performance_of(encoded);
    if (is_better) std::swap(encoded, *again);
    choice_.choosing_ns += again->choosing_ns + again->coding_ns;
    if (!is_better) return {};
    begin_anew(print_);
    note_best(best);
    keep(best, ChoiceReason::drift);
    note_estimates(compared);
    state_.performance = performance_of(encoded);
    state_.rival = compared.scores.size() > 1 ? compared.scores[1].score : 0;
    return {};
  }

  void complete(EncodedStep& encoded) {
    encoded.report.is_recalled = state_.kept.has_value() && !is_compared_;
    encoded.report.had_drifted = choice_.reason == ChoiceReason::drift;
    const bool was_chosen =
        is_by_typical_speed() ? state_.last_best != LosslessMethod::automatic : state_.kept.has_value();
    if (is_by_typical_speed() && encoded.report.selection.codec == Codec::lossless) {
      encoded.report.is_recalled = was_chosen;
      if (!was_chosen) ++state_.decisions;
      state_.last_best = encoded.report.selection.method;
    }
    if (!was_chosen) choice_.reason = ChoiceReason::first;
    choice_.selection = encoded.report.selection;
    choice_.performance = performance_of(encoded);
    choice_.raw_bytes = encoded.report.raw_bytes;
    choice_.coded_bytes = encoded.report.frame_bytes;
    choice_.choosing_ns += encoded.choosing_ns;
    choice_.coding_ns = encoded.coding_ns;
  }

  const Step& step_;
  const ArrayOptions& options_;
  const ChoiceRules& rules_;
  SeriesState& state_;
  Choice& choice_;
  StepPrint print_;
  bool is_compared_ = false, has_drifted_ = false;
  bool is_rank_back_ = false;  // its ranks may hold the values again
};

}  // namespace

Result<EncodedStep> encode_kept_step(const Step& step, const ArrayOptions& options, const ChoiceRules& rules,
                                     SeriesState& state, Choice& choice) {
  if (state.tuning != options.tuning) state.forget(options.tuning, rules);
  return KeptStep(step, options, rules, state, choice).run();
}

}  // namespace neve
