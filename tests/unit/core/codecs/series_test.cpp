// SPDX-License-Identifier: BSD-3-Clause
// Steps of a series: what is kept, when it is chosen anew, and what that costs against choosing at every
// step.
#include "neve/series.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "bench/apps/ensemble/model.hpp"
#include "tests/support/test_fields.hpp"

namespace neve {
namespace {

const std::vector<uint64_t> shape{16, 48, 64};

ArrayOptions lossless_options(Effort effort = Effort::balanced) {
  ArrayOptions options;
  options.encode.effort = effort;
  options.bound.mode = BoundMode::lossless;
  options.detect_fill = false;
  return options;
}

Result<std::vector<std::vector<std::byte>>> encode_one(const std::vector<float>& values,
                                                       const std::vector<uint64_t>& size,
                                                       SelectionMemory& memory, StepReport* report) {
  return encode_step(
      DType::f32, size, 1, [&](size_t) { return values.data(); }, lossless_options(), memory, "field",
      report);
}

// What the best of all methods of the selector makes of it.
uint64_t best_bytes(const std::vector<float>& values, const std::vector<uint64_t>& size,
                    Effort effort = Effort::balanced) {
  uint64_t best = UINT64_MAX;
  for (const LosslessMethod method :
       {LosslessMethod::automatic, LosslessMethod::lorenzo, LosslessMethod::multiple, LosslessMethod::rank,
        LosslessMethod::shuffle_zstd, LosslessMethod::bitshuffle_zstd, LosslessMethod::xor_zstd,
        LosslessMethod::zstd, LosslessMethod::shuffle_lz4}) {
    ArrayOptions options = lossless_options(effort);
    options.tuning.method = method;
    const auto frame = encode_array(DType::f32, size, values.data(), options);
    EXPECT_TRUE(frame.ok() || method == LosslessMethod::rank) << frame.status().message();
    if (frame.ok()) best = std::min<uint64_t>(best, frame->size());
  }
  return best;
}

// A lattice of waves whose phases and amplitudes are random, 1 over the wave number strong: turbulence. With
// `strength` 0 constant; weak, a constant with digits in steps of 1/64, as a sensor would have it.
std::vector<float> turbulence(double strength, int step) {
  test::Random random(7);
  struct Wave {
    double kx, ky, kz, phase, amplitude;
  };
  std::vector<Wave> waves;
  for (int w = 0; w < 24; ++w) {
    const double k = 1 + 23 * random.uniform();
    waves.push_back({k * (random.uniform() - 0.5), k * (random.uniform() - 0.5), k * (random.uniform() - 0.5),
                     6.28 * random.uniform() + 0.1 * step * random.uniform(), 1 / k});
  }
  std::vector<float> values;
  for (uint64_t z = 0; z < shape[0]; ++z) {
    for (uint64_t y = 0; y < shape[1]; ++y) {
      for (uint64_t x = 0; x < shape[2]; ++x) {
        double sum = 0;
        if (strength > 0) {
          for (const Wave& w : waves) {
            sum +=
                w.amplitude * std::sin(0.1 * (w.kx * static_cast<double>(x) + w.ky * static_cast<double>(y) +
                                              w.kz * static_cast<double>(z)) +
                                       w.phase);
          }
        }
        const double value = 280 + strength * sum;
        values.push_back(static_cast<float>(strength < 0.1 ? std::round(64 * value) / 64 : value));
      }
    }
  }
  return values;
}

TEST(Series, AFieldThatTurnsTurbulentIsChosenAnewWithinTwoSteps) {
  SelectionMemory memory;
  uint64_t stored = 0, best = 0;
  int weighed = 0, weighed_at = -1;
  LosslessMethod before = LosslessMethod::automatic, after = LosslessMethod::automatic;
  constexpr int steps = 24, onset = 9;
  for (int step = 0; step < steps; ++step) {
    // Constant; then weak, which few values are; then from one step to the next turbulent.
    const double strength = step < 3 ? 0 : step < onset ? 0.05 : 2 + 0.1 * step;
    const std::vector<float> values = turbulence(strength, step);
    StepReport report;
    const auto frames = encode_one(values, shape, memory, &report);
    ASSERT_TRUE(frames.ok()) << frames.status().message();
    ASSERT_EQ(frames->size(), 1U);
    std::vector<float> decoded(values.size());
    const auto frame = Frame::parse(frames->front());
    ASSERT_TRUE(frame.ok());
    ASSERT_TRUE(frame->decode(reinterpret_cast<std::byte*>(decoded.data()), decoded.size() * 4).ok());
    ASSERT_EQ(std::memcmp(decoded.data(), values.data(), values.size() * 4), 0) << step;
    stored += report.frame_bytes;
    best += best_bytes(values, shape);
    weighed += report.is_recalled ? 0 : 1;
    if (step >= onset && weighed_at < 0 && !report.is_recalled) weighed_at = step;
    if (step == onset - 1) before = report.selection.method;
    if (step == steps - 1) after = report.selection.method;
  }
  EXPECT_GE(weighed_at, onset);
  EXPECT_LE(weighed_at, onset + 2);
  EXPECT_NE(before, after);
  EXPECT_LT(static_cast<double>(stored), 1.02 * static_cast<double>(best));
  EXPECT_LT(weighed, steps / 2) << "most steps choose nothing";
}

class SpinUp : public ::testing::TestWithParam<Effort> {};

TEST_P(SpinUp, KeepsUpWithTheBestOfEachStep) {
  const ensemble::Grid grid{64, 48, 8, 60e3};
  ensemble::Model model(grid);
  ensemble::State state = model.initial_state(1, 1, 0.5);
  const std::vector<uint64_t> size{8, 48, 64};
  SelectionMemory memory;
  uint64_t stored = 0, best = 0;
  int recalled = 0;
  constexpr int outputs = 8;
  for (int output = 0; output < outputs; ++output) {
    ASSERT_TRUE(model.advance(state, 2 * 3600).ok());
    const std::vector<float>* const fields[] = {&state.u, &state.v, &state.thickness, &state.vapour,
                                                &state.cloud};
    for (size_t f = 0; f < std::size(fields); ++f) {
      StepReport report;
      const auto frames = encode_step(
          DType::f32, size, 1, [&](size_t) { return fields[f]->data(); }, lossless_options(GetParam()),
          memory, "field " + std::to_string(f), &report);
      ASSERT_TRUE(frames.ok()) << frames.status().message();
      stored += report.frame_bytes;
      best += best_bytes(*fields[f], size, GetParam());
      recalled += report.is_recalled ? 1 : 0;
    }
  }
  EXPECT_LT(static_cast<double>(stored), 1.02 * static_cast<double>(best));
  EXPECT_GT(recalled, outputs);
}

INSTANTIATE_TEST_SUITE_P(Series, SpinUp, ::testing::Values(Effort::fast, Effort::balanced),
                         [](const auto& each) { return std::string(effort_name(each.param)); });

// Values in order, of which some so many differ.
std::vector<float> in_order(size_t count, size_t different) {
  test::Random random(5);
  const double share = static_cast<double>(different) / static_cast<double>(count);
  std::vector<float> values;
  double steps = 0;
  for (size_t i = 0; i < count; ++i) {
    if (random.uniform() < share) steps += 1 + std::floor(24 * random.uniform());
    values.push_back(static_cast<float>(1 + steps * std::exp2(-23)));
  }
  return values;
}

// Ranks cannot hold more than 65536 values: no estimate says that they could.
TEST(Series, RanksAreNotTakenForTooManyValuesInOrder) {
  for (const size_t different : {30'000U, 300'000U}) {
    SelectionMemory memory;
    const std::vector<float> values = in_order(400'000, different);
    for (int step = 0; step < 3; ++step) {
      StepReport report;
      ASSERT_TRUE(encode_one(values, {values.size()}, memory, &report).ok());
    }
    const std::vector<Choice> choices = memory.choices();
    ASSERT_EQ(choices.size(), 3U);
    EXPECT_EQ(choices[0].reason, ChoiceReason::first);
    EXPECT_NE(choices[0].selection, choices[0].rival);
    if (different > 65536) {
      EXPECT_NE(choices[0].rival.method, LosslessMethod::rank);
    }
    const auto best = static_cast<double>(best_bytes(values, {values.size()}));
    EXPECT_LE(static_cast<double>(choices[2].coded_bytes), 1.05 * best);
    for (const Choice& choice : {choices[1], choices[2]}) EXPECT_EQ(choice.reason, ChoiceReason::none);
  }
}

// Of which ranks, put in order, are as smooth as the values.
std::vector<float> waves(size_t count, int step) {
  std::vector<float> values(count);
  for (size_t i = 0; i < count; ++i)
    values[i] = std::sin(static_cast<float>(i) / 300.0F + static_cast<float>(step));
  return values;
}

// A step that ranks cannot hold says nothing of a smaller one.
TEST(Series, RanksComeBackWhereAStepIsSmallerAgain) {
  SelectionMemory memory;
  constexpr int larger = 3, steps = 8;
  for (int step = 0; step < steps; ++step) {
    const std::vector<float> values = waves(step == larger ? 72'000 : 60'000, step);
    ASSERT_TRUE(encode_one(values, {values.size()}, memory, nullptr).ok());
  }
  const std::vector<Choice> choices = memory.choices();
  ASSERT_EQ(choices.size(), static_cast<size_t>(steps));
  for (int step = 0; step < steps; ++step)
    EXPECT_EQ(choices[step].selection.method == LosslessMethod::rank, step != larger) << step;
}

// Nor does one of which it was clear from the beginning.
TEST(Series, RanksAreLookedForOnceAStepHasFewEnoughValues) {
  SelectionMemory memory;
  for (const size_t count : {100'000U, 70'000U, 60'000U, 60'000U}) {
    const std::vector<float> values = waves(count, 0);
    ASSERT_TRUE(encode_one(values, {values.size()}, memory, nullptr).ok());
  }
  EXPECT_NE(memory.choices()[1].selection.method, LosslessMethod::rank);
  EXPECT_EQ(memory.choices()[2].selection.method, LosslessMethod::rank);
  EXPECT_EQ(memory.choices()[3].selection.method, LosslessMethod::rank);
}

TEST(Series, PiecesOfAStepShareWhatIsKept) {
  SelectionMemory memory;
  std::vector<std::vector<float>> pieces;
  for (int p = 0; p < 3; ++p) pieces.push_back(turbulence(2, p));
  const auto piece = [&](size_t i) { return static_cast<const void*>(pieces[i].data()); };
  StepReport first, second;
  const auto frames = encode_step(DType::f32, shape, 3, piece, lossless_options(), memory, "field", &first);
  ASSERT_TRUE(frames.ok());
  EXPECT_EQ(frames->size(), 3U);
  EXPECT_FALSE(first.is_recalled);
  ASSERT_TRUE(encode_step(DType::f32, shape, 3, piece, lossless_options(), memory, "field", &second).ok());
  EXPECT_TRUE(second.is_recalled);
  EXPECT_EQ(second.selection, first.selection);
  EXPECT_EQ(memory.decisions(Effort::balanced, 0, "field"), 1);
}

TEST(Series, AMethodThatIsAskedForIsNotRemembered) {
  SelectionMemory memory;
  ArrayOptions options = lossless_options();
  options.tuning.method = LosslessMethod::zstd;
  const std::vector<float> values = turbulence(2, 0);
  ASSERT_TRUE(encode_step(
                  DType::f32, shape, 1, [&](size_t) { return values.data(); }, options, memory, "field")
                  .ok());
  EXPECT_EQ(memory.decisions(Effort::balanced, 0, "field"), 0);
}

TEST(Series, ADeltaMustBeANumber) {
  SelectionMemory memory(-0.1);
  const std::vector<float> values = turbulence(2, 0);
  const auto frames = encode_one(values, shape, memory, nullptr);
  EXPECT_EQ(frames.status().code(), Code::usage);
  EXPECT_EQ(frames.status().message(), "memory of selections: delta -0.1, must be finite and not negative");
}

}  // namespace
}  // namespace neve
