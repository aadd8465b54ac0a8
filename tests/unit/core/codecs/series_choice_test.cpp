// SPDX-License-Identifier: BSD-3-Clause
// Made series whose best method changes at known steps: when it is seen, how good what is written is, how
// often it is chosen again by delta, and what the log says.
#include <gtest/gtest.h>

#include <climits>
#include <utility>

#include "bench/apps/series/trial.hpp"
#include "core/catalog/lossless_methods.hpp"

namespace neve::series {
namespace {

TrialOptions small_steps(double ratio_weight, double speed_weight, double delta = 0.05) {
  TrialOptions options;
  options.step_bytes = 256 << 10;
  options.tuning.ratio_weight = ratio_weight;
  options.tuning.speed_weight = speed_weight;
  options.rules.delta = delta;
  return options;
}

void expect_seen(const MadeSeries& series, const TrialOptions& options, ForcedBytes& forced) {
  const auto trial = run_trial(series, options, &forced);
  ASSERT_TRUE(trial.ok()) << trial.status().message();
  EXPECT_LE(trial->steps_unseen(), 2) << series.name;
  EXPECT_GE(trial->mean_score_share(), 0.97) << series.name;
  EXPECT_LE(trial->least_score_share(), 1.0) << series.name;
  ASSERT_EQ(trial->log.size(), static_cast<size_t>(made_steps));
  uint64_t step = 0;
  for (const Choice& choice : trial->log) {
    EXPECT_EQ(choice.step, step++);
    EXPECT_EQ(choice.variable, "made");
    EXPECT_EQ(choice.selection.codec, Codec::lossless);
    EXPECT_EQ(choice.raw_bytes, trial->log.front().raw_bytes);
    EXPECT_NEAR(choice.performance, trial->scores[choice.step], 1e-9 * choice.performance);
    EXPECT_GT(choice.coding_ns, 0U);
  }
  EXPECT_EQ(trial->log.front().reason, ChoiceReason::first);
}

// By every weight against all methods, each asked for by name.
TEST(SeriesChoice, AChangeIsSeenWithinTwoSteps) {
  for (const DType dtype : {DType::f32, DType::f64}) {
    ForcedBytes forced;
    for (const MadeSeries& series : {made_series[0], made_series[3]}) {
      for (const auto& [ratio, speed] : {std::pair{1.0, 0.0}, {0.0, 1.0}, {1.0, 1.0}}) {
        TrialOptions options = small_steps(ratio, speed);
        options.dtype = dtype;
        expect_seen(series, options, forced);
      }
    }
  }
}

// Nearly the best of all steps but one, against methods that parts of them suggest: parts have few periods of
// what repeats all along the step.
TEST(SeriesChoice, PeriodsAreSeenInStepsOfAnySize) {
  constexpr MadeSeries series = {"walk, periods, decimals", {Kind::walk, Kind::periods, Kind::decimals}};
  const auto methods = parse_lossless_methods("zstd+shuffle-zstd+xor-zstd+lz4+lorenzo+multiple+rank");
  ASSERT_TRUE(methods.ok());
  for (const DType dtype : {DType::f32, DType::f64}) {
    for (const uint64_t step_bytes : {400'000, 1'600'000, 4'000'000}) {
      ForcedBytes forced(*methods);
      for (const double speed : {0.0, 1.0}) {
        TrialOptions options = small_steps(1, speed);
        options.dtype = dtype;
        options.step_bytes = step_bytes;
        options.effort = Effort::fast;
        const auto trial = run_trial(series, options, &forced);
        ASSERT_TRUE(trial.ok()) << trial.status().message();
        int too_low = 0;  // methods may swap places where the print stays the same
        for (size_t s = 10; s < 20; ++s) too_low += trial->scores[s] < 0.97 * trial->best_scores[s] ? 1 : 0;
        EXPECT_LE(too_low, 1) << step_bytes << " bytes of " << dtype_name(dtype) << ", speed " << speed;
      }
    }
  }
}

TEST(SeriesChoice, OfAStepInPieces) {
  ForcedBytes forced;
  TrialOptions options = small_steps(1, 0);
  options.pieces = 4;
  expect_seen(made_series[0], options, forced);
}

// (bzip2 is slow: few values.)
TEST(SeriesChoice, AmongTheNineOfAcomps) {
  ForcedBytes forced;
  for (const double speed : {0.0, 1.0}) {
    TrialOptions options = small_steps(1, speed);
    options.step_bytes = 48 << 10;
    options.tuning.candidates = acomps_methods;
    expect_seen(made_series[0], options, forced);
  }
}

// What comes many times smaller by a slow method is seen where speed counts as well.
TEST(SeriesChoice, ASlowMethodIsSeenBesideFastOnes) {
  ForcedBytes forced;
  TrialOptions options = small_steps(1, 1);
  options.step_bytes = 400 << 10;
  options.tuning.candidates = acomps_methods;
  expect_seen(made_series[0], options, forced);
}

// By speed alone nothing is chosen again, and only what is listed is taken.
TEST(SeriesChoice, BySpeedTheFastestCandidateIsKept) {
  TrialOptions options = small_steps(0, 1);
  options.tuning.candidates = acomps_methods;
  const auto trial = run_trial(made_series[0], options, nullptr);
  ASSERT_TRUE(trial.ok()) << trial.status().message();
  EXPECT_EQ(trial->changes(), 0);
  for (const Choice& choice : trial->log) {
    EXPECT_TRUE(acomps_methods.has(choice.selection.method));
    EXPECT_EQ(choice.selection, trial->log.front().selection);
  }
}

// Measured speeds are those of this machine: which method is the best depends on it, that one is chosen and
// logged does not.
TEST(SeriesChoice, MeasuredSpeedsChoose) {
  TrialOptions options = small_steps(1, 1);
  options.rules.speeds = Speeds::measured;
  const auto trial = run_trial(made_series[0], options, nullptr);
  ASSERT_TRUE(trial.ok()) << trial.status().message();
  ASSERT_EQ(trial->log.size(), static_cast<size_t>(made_steps));
  for (const Choice& choice : trial->log) {
    EXPECT_EQ(choice.selection.codec, Codec::lossless);
    EXPECT_GT(choice.performance, 0);
  }
}

TEST(SeriesChoice, ALargerDeltaChoosesAgainNoMoreOften) {
  for (const MadeSeries& series : made_series) {
    for (const double speed : {0.0, 1.0}) {
      int before = INT_MAX;
      for (const double delta : {0.0, 0.01, 0.1, 1.0}) {
        const auto trial = run_trial(series, small_steps(1, speed, delta), nullptr);
        ASSERT_TRUE(trial.ok()) << trial.status().message();
        EXPECT_LE(trial->changes(), before) << series.name << ", speed " << speed << ", delta " << delta;
        before = trial->changes();
      }
    }
  }
}

}  // namespace
}  // namespace neve::series
