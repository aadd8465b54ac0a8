// SPDX-License-Identifier: BSD-3-Clause
#include "io/hdf5/filter_parameters.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace neve::hdf5 {
namespace {

FilterParameters example() {
  FilterParameters p;
  p.bound = {BoundMode::rel, 1e-3};
  p.codec = Codec::dual_quant;
  p.effort = Effort::balanced;
  p.fill = -999.0;
  p.detect_fill = false;
  p.missing = {1e20, -0.5};
  p.is_written_once = true;
  p.range = ValueRange{-2, 7.5, false};
  p.has_zero_padding = true;
  p.dtype = DType::f32;
  p.chunk_shape = {3, 5000000000 / 50};
  return p;
}

TEST(FilterParameters, WordsAreFrozen) {
  FilterParameters p = example();
  p.chunk_shape = {7, 9};
  const std::vector<uint32_t> expected = {
      2, 2,          0xd2f1a9fc, 0x3f50624d, 1,          1, 1 + 8 + 16 + 64, 0, 0xc08f3800,
      2, 0x78b58c40, 0x4415af1d, 0,          0xbfe00000, 0, 0xc0000000,      0, 0x401e0000,
      0, 2,          7,          0,          9,          0};
  EXPECT_EQ(to_words(p), expected);
}

// Files of layout 1 stay readable. Their values may not be on a lattice: whoever changes them keeps them.
TEST(FilterParameters, LayoutOneIsReadAndHasItsBoundAlready) {
  const std::vector<uint32_t> words = {1,          2, 0xd2f1a9fc, 0x3f50624d, 1, 1, 1, 0,
                                       0xc08f3800, 0, 2,          7,          0, 9, 0};
  const Result<FilterParameters> p = parse_words(words);
  ASSERT_TRUE(p.ok()) << p.status().message();
  EXPECT_EQ(p->bound, (Bound{BoundMode::rel, 1e-3}));
  EXPECT_EQ(p->codec, Codec::dual_quant);
  EXPECT_EQ(p->fill, -999.0);
  EXPECT_EQ(p->chunk_shape, (std::vector<uint64_t>{7, 9}));
  EXPECT_TRUE(p->has_bound_already);
  EXPECT_EQ(array_options(*p).bound.mode, BoundMode::lossless);
  const Result<UserParameters> user = parse_user_words(std::span(words).first(9));
  ASSERT_TRUE(user.ok());
  EXPECT_EQ(user->words, 9U);
  EXPECT_FALSE(user->parameters.has_bound_already);
}

FilterParameters example_of_methods() {
  FilterParameters p;
  p.bound = {BoundMode::lossless, 0};
  p.candidates = *parse_lossless_methods("B-zlib,zstd");
  p.speed_weight = 0.5;
  p.ratio_weight = 2;
  p.dtype = DType::f32;
  p.chunk_shape = {7, 9};
  return p;
}

TEST(FilterParameters, WordsOnMethodsAreLayoutThreeAndFrozen) {
  const FilterParameters p = example_of_methods();
  const uint32_t candidates = 1U << static_cast<unsigned>(LosslessMethod::zstd) |
                              1U << static_cast<unsigned>(*parse_lossless_method("B-zlib"));
  const std::vector<uint32_t> words = {3, 0,          0, 0,          0, 0, 2, 0, 0, 0, candidates,
                                       0, 0x3fe00000, 0, 0x40000000, 0, 2, 7, 0, 9, 0};
  EXPECT_EQ(to_words(p), words);
  const Result<FilterParameters> back = parse_words(words);
  ASSERT_TRUE(back.ok()) << back.status().message();
  EXPECT_EQ(tuning_of(*back), tuning_of(p));
  EXPECT_EQ(array_options(*back).tuning, tuning_of(p));
  EXPECT_EQ(back->chunk_shape, p.chunk_shape);
  for (size_t n = 0; n < words.size(); ++n) {
    EXPECT_FALSE(parse_words(std::span(words).first(n)).ok()) << n;
  }
}

TEST(FilterParameters, WordsOnMethodsThatAreNotAllowedAreRefused) {
  const std::pair<FilterParameters, const char*> cases[] = {
      {[] {
         auto p = example_of_methods();
         p.candidates.bits = 1;
         return p;
       }(),
       "candidates have bits 0x1"},
      {[] {
         auto p = example_of_methods();
         p.speed_weight = -1;
         return p;
       }(),
       "speed_weight is -1"},
      {[] {
         auto p = example_of_methods();
         p.speed_weight = p.ratio_weight = 0;
         return p;
       }(),
       "both 0"},
  };
  for (const auto& [p, message] : cases) {
    const Status status = parse_words(to_words(p)).status();
    EXPECT_EQ(status.code(), Code::usage);
    EXPECT_TRUE(status.message().starts_with("Neve filter parameter 10 (methods): ")) << status.message();
    EXPECT_NE(status.message().find(message), std::string::npos) << status.message();
  }
}

TEST(FilterParameters, WeightsWithoutAChoiceAreRefused) {
  FilterParameters p;
  p.bound = {BoundMode::abs, 1e-3};
  p.codec = Codec::dual_quant;
  p.speed_weight = 1;
  EXPECT_NE(check_promises(p).message().find("speed_weight has no meaning"), std::string::npos);
  p.codec = Codec::automatic;
  EXPECT_TRUE(check_promises(p).ok()) << check_promises(p).message();
}

TEST(FilterParameters, WhatCannotBeKeptIsRefusedWithTheLineToWrite) {
  FilterParameters p;
  p.bound = {BoundMode::rel, 1e-3};
  EXPECT_NE(check_promises(p).message().find("range=(LOWEST, HIGHEST)"), std::string::npos);
  p.bound = {BoundMode::abs, 1e-3};
  EXPECT_TRUE(check_promises(p).ok());
  p.codec = Codec::interpolation;
  EXPECT_NE(check_promises(p).message().find("rewrite=False"), std::string::npos);
  p.is_written_once = true;
  EXPECT_TRUE(check_promises(p).ok());
}

TEST(FilterParameters, ComeBackBitExact) {
  const FilterParameters p = example();
  const Result<FilterParameters> back = parse_words(to_words(p));
  ASSERT_TRUE(back.ok()) << back.status().message();
  EXPECT_EQ(back->bound, p.bound);
  EXPECT_EQ(back->codec, p.codec);
  EXPECT_EQ(back->effort, p.effort);
  EXPECT_EQ(back->fill, p.fill);
  EXPECT_EQ(back->detect_fill, p.detect_fill);
  EXPECT_EQ(back->missing, p.missing);
  EXPECT_EQ(back->is_written_once, p.is_written_once);
  EXPECT_EQ(back->has_bound_already, p.has_bound_already);
  EXPECT_EQ(back->has_zero_padding, p.has_zero_padding);
  EXPECT_EQ(back->range->min, p.range->min);
  EXPECT_EQ(back->range->max, p.range->max);
  EXPECT_EQ(back->dtype, p.dtype);
  EXPECT_EQ(back->chunk_shape, p.chunk_shape);
}

TEST(FilterParameters, NanIsAFillValueLikeAnyOther) {
  FilterParameters p = example();
  p.fill = std::numeric_limits<double>::quiet_NaN();
  const Result<FilterParameters> back = parse_words(to_words(p));
  ASSERT_TRUE(back.ok());
  EXPECT_TRUE(std::isnan(*back->fill));
}

struct BadWords {
  size_t at;
  uint32_t value;
  const char* message;
};

TEST(FilterParameters, RefusalsNameTheWord) {
  const BadWords cases[] = {
      {0, 4,
       "Neve filter parameter 0 (layout version) is 4; allowed: 1 to 3 (a newer Neve may have written this)"},
      {1, 3, "Neve filter parameter 1 (bound mode) is 3; allowed: 0 lossless, 1 abs, 2 rel"},
      {4, 3,
       "Neve filter parameter 4 (codec) is 3; allowed: 0 auto, 1 dual_quant, 2 exact, "
       "4 lorenzo_regression, 5 interpolation, 6 context, 7 lossless, 8 axis_passes"},
      {4, 9,
       "Neve filter parameter 4 (codec) is 9; allowed: 0 auto, 1 dual_quant, 2 exact, "
       "4 lorenzo_regression, 5 interpolation, 6 context, 7 lossless, 8 axis_passes"},
      {5, 3, "Neve filter parameter 5 (effort) is 3; allowed: 0 fast, 1 balanced, 2 max"},
      {6, 4,
       "Neve filter parameter 6 (flags) is 4; allowed: sums of 1, 2, 4 (only with 1), 8, 16, 32, 64 and 128"},
      {6, 256,
       "Neve filter parameter 6 (flags) is 256; allowed: sums of 1, 2, 4 (only with 1), 8, 16, 32, 64 and "
       "128"},
      {9, 17, "Neve filter parameter 9 (further missing values) is 17; allowed: 0 to 16"},
      {17, 0x7ff00000,
       "Neve filter parameter 14 (range) is -2 to inf; allowed: finite values, the lower one first"},
      {18, 10,
       "Neve filter parameter 18 (dtype) is 10; allowed: 0 f32, 1 f64, 2 i8, 3 u8, 4 i16, 5 u16, 6 i32, 7 "
       "u32, "
       "8 i64, 9 u64"},
      {19, 0, "Neve filter parameter 19 (chunk dimensions) is 0; allowed: 1 to 32"},
      {19, 33, "Neve filter parameter 19 (chunk dimensions) is 33; allowed: 1 to 32"},
      {19, 3, "Neve's filter got 24 parameters; a chunk of 3 dimensions needs 26"},
      {20, 0,
       "Neve filter parameter 20 (chunk size) is 0; allowed: at least 1, and a chunk smaller than 4 GiB"},
      {21, 1,
       "Neve filter parameter 20 (chunk size) is 4294967299; allowed: at least 1, and a chunk smaller "
       "than 4 GiB"},
  };
  for (const BadWords& bad : cases) {
    std::vector<uint32_t> words = to_words(example());
    words[bad.at] = bad.value;
    const Result<FilterParameters> parsed = parse_words(words);
    ASSERT_FALSE(parsed.ok()) << bad.message;
    EXPECT_EQ(parsed.status().code(), Code::usage);
    EXPECT_EQ(parsed.status().message(), bad.message);
  }
}

TEST(FilterParameters, EveryShorterListIsRefused) {
  const std::vector<uint32_t> words = to_words(example());
  for (size_t n = 0; n < words.size(); ++n) {
    EXPECT_FALSE(parse_words(std::span(words).first(n)).ok()) << n;
  }
}

// Of a user, and of a dataset whose properties are those of another one.
TEST(FilterParameters, WordsBehindTheLastAreRefused) {
  FilterParameters of_user = example(), with_methods = example();
  of_user.chunk_shape.clear();
  with_methods.bound = {BoundMode::lossless, 0};
  with_methods.codec = Codec::lossless;
  with_methods.candidates = *parse_lossless_methods("acomps");
  std::vector<uint32_t> layout_1 = to_words(FilterParameters{});
  layout_1[0] = 1;
  layout_1.pop_back();
  for (const std::vector<uint32_t>& words :
       {to_words(of_user), to_words(example()), to_words(with_methods), layout_1}) {
    ASSERT_TRUE(parse_user_words(words).ok()) << parse_user_words(words).status().message();
    for (const uint32_t more : {0U, 1U, 33U, 0xffffffffU}) {
      std::vector<uint32_t> longer = words;
      longer.push_back(more);
      const Status status = parse_user_words(longer).status();
      EXPECT_EQ(status.code(), Code::usage);
      EXPECT_NE(status.message().find(std::to_string(longer.size())), std::string::npos) << status.message();
    }
  }
  std::vector<uint32_t> one_more = to_words(of_user);
  one_more.push_back(7);
  EXPECT_EQ(parse_user_words(one_more).status().message(),
            "Neve's filter got " + std::to_string(one_more.size()) + " parameters; allowed: the user's " +
                std::to_string(one_more.size() - 1) + ", or " + std::to_string(one_more.size() + 1) +
                " + 2 D with what the filter adds to a dataset of D dimensions, 1 to 32");
}

TEST(FilterParameters, BadBoundIsRefused) {
  for (const double bad :
       {0.0, -1.0, std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    FilterParameters p = example();
    p.bound.value = bad;
    EXPECT_FALSE(parse_user_words(to_words(p)).ok()) << bad;
  }
}

TEST(FilterParameters, IntegersAreLosslessAndTheirFillValuesExact) {
  FilterParameters p;
  p.bound = {BoundMode::rel, 1e-3};
  EXPECT_NE(set_dtype(DType::i16, p).message().find("integers are kept bit for bit"), std::string::npos);
  p.bound = {BoundMode::lossless, 0};
  p.codec = Codec::context;
  EXPECT_NE(set_dtype(DType::i16, p).message().find("codec context"), std::string::npos);
  p.codec = Codec::automatic;
  p.fill = -999;
  ASSERT_TRUE(set_dtype(DType::i16, p).ok());
  EXPECT_FALSE(p.fill.has_value());
  EXPECT_EQ(p.integer_fill, static_cast<uint64_t>(-999));
  EXPECT_NE(set_dtype(DType::u16, p).message().find("fill value -999 does not fit"), std::string::npos)
      << set_dtype(DType::u16, p).message();
  p.chunk_shape = {4};
  p.dtype = DType::i16;
  const auto back = parse_words(to_words(p));
  ASSERT_TRUE(back.ok()) << back.status().message();
  EXPECT_EQ(back->integer_fill, p.integer_fill);
  EXPECT_EQ(back->dtype, DType::i16);
  // Made for integers, used for floating point.
  ASSERT_TRUE(set_dtype(DType::f32, p).ok());
  EXPECT_EQ(p.fill, -999.0);
  p.fill.reset();
  p.integer_fill = 18446744073709551614U;  // NC_FILL_UINT64
  EXPECT_TRUE(set_dtype(DType::u64, p).ok());
  p.integer_fill = static_cast<uint64_t>(-9223372036854775806);  // NC_FILL_INT64
  EXPECT_FALSE(set_dtype(DType::f64, p).ok());
  for (const double none : {0.5, 1e30, std::numeric_limits<double>::quiet_NaN()}) {
    p.integer_fill.reset();
    p.fill = none;
    EXPECT_NE(set_dtype(DType::i64, p).message().find("is not a value of type i64"), std::string::npos);
  }
}

}  // namespace
}  // namespace neve::hdf5
