// SPDX-License-Identifier: BSD-3-Clause
#include "bench/apps/series/trial.hpp"

#include <algorithm>
#include <cmath>

#include "neve/selection_report.hpp"
#include "neve/series.hpp"

namespace neve::series {
namespace {

constexpr double close_enough = 0.97;

ArrayOptions array_options(const TrialOptions& options) {
  ArrayOptions array;
  array.bound = {BoundMode::lossless, 0};
  array.codec = Codec::lossless;
  array.tuning = options.tuning;
  array.encode.effort = options.effort;
  return array;
}

template <class T>
struct StepValues {
  std::vector<T> values;
  size_t pieces;

  const void* piece(size_t i) const { return values.data() + i * (values.size() / pieces); }
  double bytes() const { return static_cast<double>(values.size() * sizeof(T)); }
};

// All of them but ACOMPS' nine, which are only chosen from where they are listed.
bool is_candidate(LosslessMethod method, LosslessMethods candidates) {
  return candidates.is_all() ? method > LosslessMethod::bwxor_bzip2 : candidates.has(method);
}

// Bytes of a step by one method; 0: ranks cannot hold the values.
template <class T>
Result<double> bytes_by(LosslessMethod method, const StepValues<T>& step, const TrialOptions& options) {
  ArrayOptions array = array_options(options);
  array.tuning.candidates = {};
  array.tuning.method = method;
  double bytes = 0;
  for (size_t p = 0; p < step.pieces; ++p) {
    const auto frame = encode_array(options.dtype, piece_shape(options), step.piece(p), array);
    if (!frame.ok() && method == LosslessMethod::rank) return 0;
    if (!frame.ok()) return frame.status();
    bytes += static_cast<double>(frame->size());
  }
  return bytes;
}

// The best of the candidates, each asked for by name.
template <class T>
Status force(const StepValues<T>& step, Kind kind, int number, const TrialOptions& options,
             ForcedBytes& forced, Trial& trial) {
  double best = 0;
  LosslessMethod best_method = LosslessMethod::automatic;
  for (int m = 1; m < lossless_methods; ++m) {
    const auto method = static_cast<LosslessMethod>(m);
    if (!is_candidate(method, options.tuning.candidates) || !forced.methods().has(method)) continue;
    double& bytes = forced.of(kind, number, method);
    if (!ForcedBytes::is_known(bytes)) {
      NEVE_ASSIGN(bytes, bytes_by(method, step, options));
    }
    const double score =
        bytes == 0 ? 0 : selection_score(Codec::lossless, method, step.bytes(), bytes, options.tuning);
    if (score > best) {
      best = score;
      best_method = method;
    }
  }
  trial.best_scores.push_back(best);
  trial.best_methods.push_back(best_method);
  return {};
}

template <class T>
Result<Trial> run(const MadeSeries& series, const TrialOptions& options, ForcedBytes* forced) {
  const std::vector<uint64_t> shape = piece_shape(options);
  std::vector<uint64_t> whole = shape;
  whole[0] *= options.pieces;
  SelectionMemory memory(options.rules);
  Trial trial;
  for (int s = 0; s < made_steps; ++s) {
    const StepValues<T> step{made_step<T>(series.kind_at(s), whole, s), options.pieces};
    StepReport report;
    const auto frames = encode_step(
        options.dtype, shape, options.pieces, [&](size_t i) { return step.piece(i); }, array_options(options),
        memory, "made", &report);
    if (!frames.ok()) return frames.status();
    trial.scores.push_back(selection_score(report.selection.codec, report.selection.method, step.bytes(),
                                           static_cast<double>(report.frame_bytes), options.tuning));
    if (forced != nullptr) NEVE_TRY(force(step, series.kind_at(s), s, options, *forced, trial));
  }
  trial.log = memory.choices();
  return trial;
}

}  // namespace

std::vector<uint64_t> piece_shape(const TrialOptions& options) {
  const double values = static_cast<double>(options.step_bytes) /
                        static_cast<double>(dtype_bytes(options.dtype)) / static_cast<double>(options.pieces);
  const auto layers = static_cast<uint64_t>(options.pieces > 1 ? 4 : 16);
  const auto side = static_cast<uint64_t>(std::sqrt(values / static_cast<double>(layers)));
  return {layers, side, side};
}

int Trial::steps_unseen() const {
  int most = 0, unseen = 0;
  for (size_t s = 0; s < best_scores.size(); ++s) {
    unseen = scores[s] >= close_enough * best_scores[s] ? 0 : unseen + 1;
    most = std::max(most, unseen);
  }
  return most;
}

double Trial::least_score_share() const {
  double least = HUGE_VAL;
  for (size_t s = 0; s < best_scores.size(); ++s) least = std::min(least, scores[s] / best_scores[s]);
  return least;
}

double Trial::mean_score_share() const {
  double sum = 0;
  for (size_t s = 0; s < best_scores.size(); ++s) sum += scores[s] / best_scores[s];
  return sum / static_cast<double>(std::max<size_t>(1, best_scores.size()));
}

double Trial::choosing_share() const {
  uint64_t choosing = 0, coding = 0;
  for (const Choice& choice : log) {
    choosing += choice.choosing_ns;
    coding += choice.coding_ns;
  }
  return static_cast<double>(choosing) / static_cast<double>(std::max<uint64_t>(1, choosing + coding));
}

int Trial::changes() const {
  return static_cast<int>(std::count_if(log.begin(), log.end(), [](const Choice& choice) {
    return choice.reason == ChoiceReason::drift || choice.reason == ChoiceReason::rival;
  }));
}

Result<Trial> run_trial(const MadeSeries& series, const TrialOptions& options, ForcedBytes* forced) {
  return options.dtype == DType::f32 ? run<float>(series, options, forced)
                                     : run<double>(series, options, forced);
}

}  // namespace neve::series
