// SPDX-License-Identifier: BSD-3-Clause
#include "io/hdf5/filter_text.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <random>

namespace neve::hdf5 {
namespace {

std::vector<uint32_t> words_of(std::string_view text) {
  const Result<FilterParameters> parsed = parse_filter_text(text);
  EXPECT_TRUE(parsed.ok()) << text << ": " << parsed.status().message();
  return parsed.ok() ? to_words(*parsed) : std::vector<uint32_t>{};
}

TEST(FilterText, ReadsEachName) {
  const auto parsed = parse_filter_text(
      "{abs = 0.25, range = {min = -1, max = 2.5}, fill = -999, missing.1 = 1e20, missing = {2 = -0.5}, "
      "detect_fill = false, codec = 'dual_quant', effort = \"max\", rewrite = false, has_bound = true}");
  ASSERT_TRUE(parsed.ok()) << parsed.status().message();
  EXPECT_EQ(parsed->bound.mode, BoundMode::abs);
  EXPECT_EQ(parsed->bound.value, 0.25);
  EXPECT_EQ(parsed->range->min, -1);
  EXPECT_EQ(parsed->range->max, 2.5);
  EXPECT_EQ(parsed->fill, -999.0);
  EXPECT_EQ(parsed->missing, (std::vector<double>{1e20, -0.5}));
  EXPECT_FALSE(parsed->detect_fill);
  EXPECT_EQ(parsed->codec, Codec::dual_quant);
  EXPECT_EQ(parsed->effort, Effort::max);
  EXPECT_TRUE(parsed->is_written_once);
  EXPECT_TRUE(parsed->has_bound_already);
}

TEST(FilterText, ReadsWhatIsSaidOfMethods) {
  const auto parsed = parse_filter_text("candidates = \"acomps\", speed_weight = 1, ratio_weight = 0.5");
  ASSERT_TRUE(parsed.ok()) << parsed.status().message();
  EXPECT_EQ(parsed->candidates, *parse_lossless_methods("acomps"));
  EXPECT_EQ(parsed->speed_weight, 1);
  EXPECT_EQ(parsed->ratio_weight, 0.5);
  EXPECT_EQ(filter_text(*parsed),
            "lossless = true, candidates = \"acomps\", speed_weight = 1.0, ratio_weight = 0.5");
}

TEST(FilterText, NothingIsLossless) {
  for (const char* text : {"", "  ", "{}", "{ }", "lossless = true", "effort = \"fast\""}) {
    FilterParameters lossless;
    lossless.bound = {BoundMode::lossless, 0};
    EXPECT_EQ(words_of(text), to_words(lossless)) << text;
  }
}

TEST(FilterText, ARelativeBoundOfARangeIsAnAbsoluteOne) {
  EXPECT_EQ(words_of("rel = 1e-3, range.min = 0, range.max = 4"),
            words_of("abs = 0.004, range.min = 0, range.max = 4"));
  EXPECT_EQ(words_of("rel = 1e-3, range.min = 7, range.max = 7"),
            words_of("lossless = true, range.min = 7, range.max = 7"));
  const auto wide = parse_filter_text("rel = 0.5, range.min = -1.7e308, range.max = 1.7e308");
  ASSERT_TRUE(wide.ok());
  EXPECT_EQ(wide->bound.value, 0.5 * std::numeric_limits<double>::max());
}

TEST(FilterText, WholeFillValuesAreExact) {
  EXPECT_EQ(parse_filter_text("fill = 9007199254740993")->integer_fill, 9007199254740993U);
  EXPECT_EQ(parse_filter_text("fill = 18446744073709551615")->integer_fill, ~uint64_t{0});
  EXPECT_EQ(parse_filter_text("fill = -9223372036854775807")->integer_fill, uint64_t{1} << 63 | 1);
  EXPECT_EQ(parse_filter_text("fill = 9007199254740993.0")->fill, 9007199254740992.0);
}

// Any parameters that words can hold and a user may give.
FilterParameters any(std::mt19937_64& random) {
  std::uniform_real_distribution<double> exponent(-300, 300);
  const auto number = [&] { return std::pow(10.0, exponent(random)) * (random() % 2 == 0 ? 1 : -1); };
  FilterParameters p;
  p.bound.mode = static_cast<BoundMode>(random() % 3);
  p.bound.value = p.bound.mode == BoundMode::lossless ? 0 : std::abs(number());
  if (random() % 2 == 0) p.fill = number();
  if (!p.fill && random() % 2 == 0) p.integer_fill = random() | uint64_t{1} << 60;
  p.missing.resize(random() % (max_missing + 1));
  for (double& value : p.missing) value = number();
  if (p.bound.mode != BoundMode::rel && random() % 2 == 0) {
    const double lowest = number();
    p.range = ValueRange{lowest, lowest + std::abs(number()), false};
  }
  p.detect_fill = random() % 2 == 0;
  p.codec = random() % 2 == 0 ? Codec::automatic : Codec::dual_quant;
  p.effort = static_cast<Effort>(random() % 3);
  if (random() % 2 == 0) p.candidates.bits = static_cast<uint32_t>(random()) & 0xffffeU;
  if (random() % 2 == 0) p.speed_weight = std::abs(number());
  if (random() % 2 == 0) p.ratio_weight = std::abs(number());
  p.is_written_once = random() % 2 == 0;
  p.has_bound_already = random() % 2 == 0;
  return p;
}

TEST(FilterText, WordsComeBackFromTheirText) {
  std::mt19937_64 random(36);
  for (int i = 0; i < 2000; ++i) {
    const FilterParameters p = any(random);
    const std::string text = filter_text(p);
    ASSERT_LE(text.size(), max_filter_text);
    ASSERT_EQ(words_of(text), to_words(p)) << text;
    if (!check_promises(p).ok()) continue;
    ASSERT_EQ(*words_text(to_words(p)), text);
  }
}

// Words of any origin. Their text may be that of other words, a range without meaning left out, and then it
// stays.
TEST(FilterText, WhatHasATextIsAccepted) {
  std::mt19937_64 random(5);
  const auto number = [&]() -> double {
    const double numbers[] = {0,
                              -0.0,
                              0.5,
                              -3,
                              1e20,
                              1e300,
                              std::numeric_limits<double>::quiet_NaN(),
                              std::numeric_limits<double>::infinity(),
                              std::bit_cast<double>(random())};
    return numbers[random() % std::size(numbers)];
  };
  int accepted = 0;
  for (int i = 0; i < 20000; ++i) {
    std::vector<uint32_t> words = {static_cast<uint32_t>(1 + random() % 3),
                                   static_cast<uint32_t>(random() % 3)};
    const auto append = [&](double value) {
      const auto bits = std::bit_cast<uint64_t>(value);
      words.insert(words.end(), {static_cast<uint32_t>(bits), static_cast<uint32_t>(bits >> 32)});
    };
    append(std::abs(number()));
    const auto flags = static_cast<uint32_t>(random() % (words.front() == 1 ? 8 : 256));
    words.insert(words.end(),
                 {static_cast<uint32_t>(random() % 8), static_cast<uint32_t>(random() % 3), flags});
    append(number());
    if (words.front() >= 2) {
      words.push_back(static_cast<uint32_t>(random() % 3));
      for (uint32_t of_missing = words.back(); of_missing > 0; --of_missing) append(number());
      for (int of_range = (flags & 16U) != 0 ? 2 : 0; of_range > 0; --of_range) append(number());
    }
    if (words.front() == 3) {
      words.push_back(random() % 2 == 0 ? 0 : static_cast<uint32_t>(random()) & 0xffffeU);
      append(std::abs(number()));
      append(std::abs(number()));
    }
    if (random() % 4 == 0) words.insert(words.end(), {static_cast<uint32_t>(random() % 10), 1, 100, 0});
    const Result<std::string> text = words_text(words);
    if (!text.ok()) continue;
    ++accepted;
    const auto parsed = parse_filter_text(*text);
    ASSERT_TRUE(parsed.ok()) << *text << ": " << parsed.status().message();
    ASSERT_TRUE(check_promises(*parsed).ok()) << *text;
    const std::vector<uint32_t> again = to_words(*parsed);
    const Result<std::string> settled = words_text(again);
    ASSERT_TRUE(settled.ok()) << *text << ": " << settled.status().message();
    ASSERT_EQ(words_of(*settled), again) << *text;
  }
  EXPECT_GT(accepted, 1000);
}

TEST(FilterText, WordsThatNobodyMayGiveHaveNoText) {
  const std::pair<std::vector<uint32_t>, const char*> refused[] = {
      {{2, 2, 1202590843, 1065646817, 0, 2, 2, 0, 0, 0}, "needs the range of the whole variable"},
      {{2, 0, 0, 0, 1, 0, 2, 0, 0, 0}, "codec dual_quant cannot keep the bound lossless"},
  };
  for (const auto& [words, message] : refused) {
    const Result<std::string> text = words_text(words);
    ASSERT_FALSE(text.ok()) << *text;
    EXPECT_EQ(text.status().code(), Code::usage);
    EXPECT_NE(text.status().message().find(message), std::string::npos) << text.status().message();
  }
}

// What set_local has added is the dataset's, and of another dataset it will add other things.
TEST(FilterText, OfADatasetItIsWhatItsUserGave) {
  FilterParameters p = *parse_filter_text("abs = 0.5, fill = -1.0");
  const std::string given = filter_text(p);
  p.dtype = DType::f32;
  p.chunk_shape = {3, 4};
  p.has_zero_padding = p.is_big_endian = true;
  EXPECT_EQ(*words_text(to_words(p)), given);
  EXPECT_EQ(*words_text({}), "lossless = true");
}

TEST(FilterText, RefusalsNameWhatTheyFound) {
  const std::pair<const char*, const char*> refusals[] = {
      {"abs", "'' at byte 3 of the parameters; = is allowed there"},
      {"abs = ", "a value is allowed there"},
      {"abs = x", "abs: 'x' is not a number"},
      {"abs = -1", "abs: bound: value is -1"},
      {"abs = 1, rel = 2", "more than one of abs, rel and lossless"},
      {"abs = 1, abs = 1", "abs is given twice"},
      {"abs = \"1\"", "abs = 1 is a text in quotation marks"},
      {"codec = auto", "codec = auto is not a text in quotation marks"},
      {"codec = \"best\"", "codec: codec \"best\" unknown"},
      {"lossless = false", "lossless: 'false'; allowed: true"},
      {"candidates = \"best\"", "candidates: lossless method \"best\" unknown"},
      {"candidates = \"zstd,auto\"", "auto is no method"},
      {"speed_weight = -1", "speed_weight is -1"},
      {"ratio_weight = 0", "speed_weight and ratio_weight are both 0"},
      {"speed_weight = \"1\"", "speed_weight = 1 is a text in quotation marks"},
      {"rewrite = no", "rewrite: 'no'; allowed: true, false"},
      {"efort = \"max\"", "did you mean effort?"},
      {"range.min = 1", "one of range.min and range.max is given"},
      {"range = {min = 2, max = 1}", "range is 2 to 1; allowed: finite values"},
      {"missing.2 = 1", "missing.2: 0 missing values stand before it"},
      {"abs = 1,", "the name of a parameter is allowed there"},
      {"abs = 1}", "a comma or the end is allowed there"},
      {"{abs = 1", "a comma or } is allowed there"},
      {"effort = \"max", "a closing quotation mark is allowed there"},
      {"fill = auto", "fill: 'auto' is not a number"},
  };
  for (const auto& [text, message] : refusals) {
    const auto parsed = parse_filter_text(text);
    ASSERT_FALSE(parsed.ok()) << text;
    EXPECT_EQ(parsed.status().code(), Code::usage);
    EXPECT_NE(parsed.status().message().find(message), std::string::npos) << parsed.status().message();
  }
  std::string deep = "fill = 1";
  for (int i = 0; i < 100; ++i) deep = "a = {" + deep;
  EXPECT_FALSE(parse_filter_text(deep).ok());
  EXPECT_NE(parse_filter_text(std::string(5000, ' ')).status().message().find("at most 4096"),
            std::string::npos);
}

// Bytes of any kind end in an answer.
TEST(FilterText, AnyBytesAreReadOrRefused) {
  std::mt19937_64 random(1);
  const std::string letters = "abs={}.,\"' 1e-rangm\n\t";
  for (int i = 0; i < 20000; ++i) {
    std::string text(random() % 24, ' ');
    for (char& c : text) c = letters[random() % letters.size()];
    const auto parsed = parse_filter_text(text);
    if (!parsed.ok()) continue;
    EXPECT_EQ(words_of(filter_text(*parsed)), to_words(*parsed)) << text;
  }
}

}  // namespace
}  // namespace neve::hdf5
