// SPDX-License-Identifier: BSD-3-Clause
// Series of the C API: the frames and the log of encode_step.
#include "capi_series_test.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "neve/options.hpp"
#include "neve/series.h"
#include "neve/series.hpp"

namespace neve {
namespace {

constexpr uint64_t count = 4096;
constexpr int steps = 6;

// Smooth at first, then of few values: another method becomes the best.
std::vector<float> series_of_steps() {
  std::vector<float> values;
  for (int s = 0; s < steps; ++s) {
    for (uint64_t i = 0; i < c_series_pieces * count; ++i) {
      const double place = static_cast<double>(i);
      const double wave = std::sin(0.01 * place + s), levels = static_cast<double>(i * 2654435761U >> 7 & 3U);
      values.push_back(static_cast<float>(s < steps / 2 ? wave : levels));
    }
  }
  return values;
}

std::string text_of(const void* bytes, size_t size) { return {static_cast<const char*>(bytes), size}; }

TEST(CSeries, FramesAndLogAreThoseOfEncodeStep) {
  const char* const options = "candidates=acomps;speed_weight=1;ratio_weight=1";
  const std::vector<float> values = series_of_steps();
  std::vector<c_step> made(steps);
  ASSERT_EQ(c_series_steps(options, values.data(), count, steps, made.data()), NEVE_OK) << neve_last_error();
  const auto same = parse_series_options(std::string("lossless;") + options);
  ASSERT_TRUE(same.ok());
  SelectionMemory memory(same->rules);
  for (int s = 0; s < steps; ++s) {
    const auto piece = [&](size_t i) -> const void* {
      return values.data() + (static_cast<size_t>(s) * c_series_pieces + i) * count;
    };
    const uint64_t shape[] = {count};
    const auto frames = encode_step(DType::f32, shape, c_series_pieces, piece, same->array, memory, "field");
    ASSERT_TRUE(frames.ok()) << frames.status().message();
    const c_step& step = made[static_cast<size_t>(s)];
    const std::vector<Choice> log = memory.choices();
    ASSERT_EQ(step.choices, static_cast<uint64_t>(s) + 1);
    ASSERT_EQ(log.size(), step.choices);
    EXPECT_EQ(step.method, selection_name(log.back().selection));
    EXPECT_EQ(step.reason, choice_reason_name(log.back().reason));
    EXPECT_EQ(step.coded_bytes, step.bytes[0] + step.bytes[1]);
    for (size_t i = 0; i < c_series_pieces; ++i) {
      ASSERT_EQ(text_of(step.frames[i], step.bytes[i]), text_of((*frames)[i].data(), (*frames)[i].size()));
      std::vector<float> back(count);
      ASSERT_EQ(neve_decompress(step.frames[i], step.bytes[i], 1, back.data(), count * sizeof(float)),
                NEVE_OK);
      EXPECT_EQ(std::memcmp(back.data(), piece(i), count * sizeof(float)), 0);
      neve_free(step.frames[i]);
    }
  }
}

TEST(CSeries, WithoutOptionsEveryBitIsKept) {
  neve_series* series = nullptr;
  ASSERT_EQ(neve_series_create(nullptr, &series), NEVE_OK) << neve_last_error();
  const int32_t whole[] = {3, -5, INT32_MAX};
  const uint64_t shape[] = {3}, none[] = {0, 4};
  const void* pieces[] = {whole};
  void* frame = nullptr;
  size_t bytes = 0;
  ASSERT_EQ(neve_series_step(series, "n", NEVE_I32, 1, shape, 1, pieces, &frame, &bytes), NEVE_OK);
  int32_t back[3] = {};
  ASSERT_EQ(neve_decompress(frame, bytes, 0, back, sizeof back), NEVE_OK);
  EXPECT_EQ(std::memcmp(back, whole, sizeof whole), 0);
  neve_free(frame);
  // A step without values, and one without pieces.
  pieces[0] = nullptr;
  ASSERT_EQ(neve_series_step(series, "n", NEVE_F32, 2, none, 1, pieces, &frame, &bytes), NEVE_OK)
      << neve_last_error();
  neve_free(frame);
  EXPECT_EQ(neve_series_step(series, "n", NEVE_F32, 2, none, 0, nullptr, nullptr, nullptr), NEVE_OK)
      << neve_last_error();
  neve_series_free(series);
}

TEST(CSeries, AStepOfOneValueSaysThatThereWasNothingToChoose) {
  neve_series* series = nullptr;
  ASSERT_EQ(neve_series_create(nullptr, &series), NEVE_OK) << neve_last_error();
  const std::vector<float> many = series_of_steps(), one(count, 1.5F);
  const uint64_t shape[] = {count};
  std::vector<std::string> why;
  for (const float* values : {many.data(), one.data(), many.data()}) {
    const void* pieces[] = {values};
    void* frame = nullptr;
    size_t bytes = 0;
    ASSERT_EQ(neve_series_step(series, "n", NEVE_F32, 1, shape, 1, pieces, &frame, &bytes), NEVE_OK)
        << neve_last_error();
    neve_free(frame);
    neve_choice choice = NEVE_CHOICE_INIT;
    ASSERT_EQ(neve_series_choice(series, why.size(), &choice), NEVE_OK) << neve_last_error();
    why.emplace_back(choice.why);
  }
  EXPECT_EQ(why[0], choice_reason_words(ChoiceReason::first));
  EXPECT_EQ(why[1], "there was nothing to choose: one value throughout, or none");
  EXPECT_EQ(why[2], choice_reason_words(ChoiceReason::none));
  neve_series_free(series);
}

// As encode_step and neve.Series have it: any text is a name, and the log has the whole of it.
TEST(CSeries, NamesAreKeptWhole) {
  neve_series* series = nullptr;
  ASSERT_EQ(neve_series_create(nullptr, &series), NEVE_OK) << neve_last_error();
  const std::vector<float> values(64, 1.5F);
  const uint64_t shape[] = {values.size()};
  const void* pieces[] = {values.data()};
  const std::vector<std::string> names = {"", "a\tb\n\x01\x1b[1m", "temp\xc3\xa9rature", "\xff\xfe",
                                          std::string(100'000, 'n')};
  for (size_t i = 0; i < names.size(); ++i) {
    for (uint64_t step = 0; step < 2; ++step) {
      void* frame = nullptr;
      size_t bytes = 0;
      ASSERT_EQ(neve_series_step(series, names[i].c_str(), NEVE_F32, 1, shape, 1, pieces, &frame, &bytes),
                NEVE_OK)
          << neve_last_error();
      neve_free(frame);
      neve_choice choice = NEVE_CHOICE_INIT;
      ASSERT_EQ(neve_series_choice(series, 2 * i + step, &choice), NEVE_OK) << neve_last_error();
      EXPECT_EQ(choice.variable, names[i]);
      EXPECT_EQ(choice.step, step);
    }
  }
  neve_series_free(series);
}

TEST(CSeries, LongOptionsAreNotRepeatedWhole) {
  neve_series* series = nullptr;
  const std::string wrong = "candidates=" + std::string(100'000, 'x');
  EXPECT_EQ(neve_series_create(wrong.c_str(), &series), NEVE_USAGE);
  EXPECT_EQ(series, nullptr);
  const std::string told = neve_last_error();
  EXPECT_LT(told.size(), 1000U);
  EXPECT_NE(told.find("allowed: all or acomps alone, or with + between them B-LZO"), std::string::npos)
      << told;
  EXPECT_EQ(told.find("auto"), std::string::npos) << told;
}

}  // namespace
}  // namespace neve
