// SPDX-License-Identifier: BSD-3-Clause
// Arrays under a ratio or a PSNR.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/select/bound_search.hpp"
#include "neve/frame.hpp"
#include "tests/support/fractional_noise.hpp"
#include "tests/support/test_fields.hpp"

namespace neve {
namespace {

template <class T>
std::vector<T> decode(const std::vector<std::byte>& bytes, size_t count) {
  std::vector<T> values(count);
  const auto frame = Frame::parse(bytes);
  EXPECT_TRUE(frame.ok());
  EXPECT_TRUE(frame->decode(reinterpret_cast<std::byte*>(values.data()), count * sizeof(T)).ok());
  return values;
}

template <class T>
class TargetOf : public testing::Test {};
using FloatTypes = testing::Types<float, double>;
TYPED_TEST_SUITE(TargetOf, FloatTypes);

TYPED_TEST(TargetOf, ARatioIsReachedAndItsBoundHolds) {
  using T = TypeParam;
  for (const std::vector<uint64_t>& shape : {std::vector<uint64_t>{60, 70, 80}, {120, 130, 140}}) {
    const std::vector<int64_t> size(shape.rbegin(), shape.rend());
    const auto field = test::rough_field<T>(size, 0.1, 3);
    for (const double ratio : {5.0, 10.5, 30.0}) {
      ArrayOptions o;
      o.bound = {BoundMode::ratio, ratio};
      FrameReport report;
      const auto bytes =
          encode_array(sizeof(T) == 4 ? DType::f32 : DType::f64, shape, field.data(), o, &report);
      ASSERT_TRUE(bytes.ok()) << bytes.status().message();
      const double reached = double(field.size() * sizeof(T)) / double(bytes->size());
      EXPECT_NEAR(1, reached / ratio, 0.05);
      EXPECT_DOUBLE_EQ(reached, report.reached);
      const auto frame = Frame::parse(*bytes);
      ASSERT_TRUE(frame.ok());
      EXPECT_EQ(o.bound, frame->components()[0].asked);
      const auto back = decode<T>(*bytes, field.size());
      for (size_t i = 0; i < field.size(); ++i) {
        ASSERT_LE(std::abs(double(back[i]) - double(field[i])), frame->components()[0].bound_abs);
      }
    }
  }
}

TYPED_TEST(TargetOf, APsnrIsNeverMissed) {
  using T = TypeParam;
  auto field = test::rough_field<T>({40, 50, 60}, 0.1, 4);
  std::fill_n(field.begin() + 500, 3000, T(1e20));
  const std::vector<uint64_t> shape{60, 50, 40};
  for (const double psnr : {30.0, 60.0, 100.0}) {
    ArrayOptions o;
    o.bound = {BoundMode::psnr, psnr};
    FrameReport report;
    const auto bytes =
        encode_array(sizeof(T) == 4 ? DType::f32 : DType::f64, shape, field.data(), o, &report);
    ASSERT_TRUE(bytes.ok()) << bytes.status().message();
    const auto back = decode<T>(*bytes, field.size());
    double squares = 0, lo = 1e300, hi = -1e300, count = 0;
    for (size_t i = 0; i < field.size(); ++i) {
      if (field[i] == T(1e20)) {
        ASSERT_EQ(field[i], back[i]);
        continue;
      }
      squares += std::pow(double(back[i]) - double(field[i]), 2);
      lo = std::min(lo, double(field[i]));
      hi = std::max(hi, double(field[i]));
      ++count;
    }
    const double reached = 20 * std::log10((hi - lo) / std::sqrt(squares / count));
    EXPECT_GE(reached, psnr);
    EXPECT_LE(reached, psnr + 1);
    EXPECT_NEAR(reached, report.reached, 1e-6);
  }
}

TEST(Target, WhatCostsNothingIsExact) {
  ArrayOptions o;
  o.bound = {BoundMode::ratio, 4};
  std::vector<float> field(5000);
  for (size_t i = 0; i < field.size(); ++i) field[i] = static_cast<float>(i % 10);
  FrameReport report;
  auto bytes = encode_array(DType::f32, std::vector<uint64_t>{5000}, field.data(), o, &report);
  ASSERT_TRUE(bytes.ok());
  EXPECT_EQ(field, decode<float>(*bytes, field.size()));
  EXPECT_GE(report.reached, 4);

  o.bound = {BoundMode::psnr, 60};
  std::fill(field.begin(), field.end(), 2.5F);
  bytes = encode_array(DType::f32, std::vector<uint64_t>{5000}, field.data(), o, &report);
  ASSERT_TRUE(bytes.ok());
  EXPECT_EQ(field, decode<float>(*bytes, field.size()));
  EXPECT_TRUE(std::isinf(report.reached));
}

template <class T>
Result<std::vector<std::byte>> under(const std::vector<T>& values, Bound bound,
                                     FrameReport* report = nullptr) {
  ArrayOptions o;
  o.bound = bound;
  return encode_array(sizeof(T) == 4 ? DType::f32 : DType::f64, std::vector<uint64_t>{values.size()},
                      values.data(), o, report);
}

// Of the bounds that meet a ratio, not just any.
TEST(Target, ARatioIsMetUnderAboutTheSmallestBoundThatMeetsIt) {
  const std::vector<float> noise = test::fractional_noise<float>(15, 0.8, 3);
  std::vector<float> quadratic(20000);
  for (size_t i = 0; i < quadratic.size(); ++i) quadratic[i] = static_cast<float>(i) * static_cast<float>(i);
  for (const auto& values : {noise, quadratic}) {
    const auto [low, high] = std::minmax_element(values.begin(), values.end());
    const double width = double(*high) - double(*low);
    for (const double ratio : {5.0, 10.5, 21.0}) {
      FrameReport report;
      const auto bytes = under(values, {BoundMode::ratio, ratio}, &report);
      ASSERT_TRUE(bytes.ok()) << bytes.status().message();
      EXPECT_GE(report.reached * 1.03, ratio);
      double smallest = width;
      for (double bound = width; bound > width * 1e-9; bound /= 1.1) {
        const auto tried = under(values, {BoundMode::abs, bound});
        if (double(values.size() * 4) / double(tried->size()) * 1.03 >= ratio) smallest = bound;
      }
      EXPECT_LE(report.components[0].bound_abs, 1.3 * smallest) << "ratio " << ratio;
    }
  }
}

TEST(Target, ARatioOutOfReachIsAnErrorOrTheMostThereIs) {
  std::vector<double> noise(5000);
  test::Random random(4);
  for (size_t i = 0; i < noise.size(); ++i)
    noise[i] = i % 2 == 0 ? std::numeric_limits<double>::quiet_NaN() : random.uniform();
  for (const auto& values : {noise, std::vector<double>(30, 2.5)}) {
    const auto refused = under(values, {BoundMode::ratio, 500});
    ASSERT_FALSE(refused.ok());
    EXPECT_EQ(Code::usage, refused.status().code());
    EXPECT_NE(std::string::npos, refused.status().message().find("ratio=500: not reached"));
    FrameReport report;
    const auto most = under(values, {BoundMode::ratio, 500, true}, &report);
    ASSERT_TRUE(most.ok()) << most.status().message();
    EXPECT_LT(report.reached, 500);
    const auto exact = under(values, {BoundMode::lossless, 0});
    EXPECT_LE(most->size(), exact->size() + 16);  // the header says what was asked for
  }
}

TEST(Target, BestEffortIsOfRatiosAlone) {
  for (const Bound& bound :
       {Bound{BoundMode::abs, 1, true}, {BoundMode::psnr, 60, true}, {BoundMode::lossless, 0, true}})
    EXPECT_NE(std::string::npos, under(std::vector<float>(9), bound).status().message().find("best effort"));
}

// What meets a PSNR is hardly larger than under the best bound of a row of them.
TEST(Target, APsnrTakesFewBytes) {
  const std::vector<float> values = test::fractional_noise<float>(15, 0.5, 5);
  const auto [low, high] = std::minmax_element(values.begin(), values.end());
  const double width = double(*high) - double(*low);
  for (const double psnr : {40.0, 70.0}) {
    const auto bytes = under(values, {BoundMode::psnr, psnr});
    size_t least = bytes->size();
    for (double bound = width * std::pow(10, -psnr / 20); bound < width; bound *= 1.05) {
      const auto tried = under(values, {BoundMode::abs, bound});
      const auto back = decode<float>(*tried, values.size());
      double squares = 0;
      for (size_t i = 0; i < values.size(); ++i) squares += std::pow(double(back[i]) - double(values[i]), 2);
      if (20 * std::log10(width / std::sqrt(squares / double(values.size()))) >= psnr)
        least = std::min(least, tried->size());
    }
    EXPECT_LE(double(bytes->size()), 1.03 * double(least));
  }
}

// Squares of errors that small are 0 in a double, of errors that large infinite.
TEST(Target, APsnrIsMetWhateverTheMagnitude) {
  const std::vector<double> noise = test::fractional_noise<double>(13, 0.5, 7);
  const auto [low, high] = std::minmax_element(noise.begin(), noise.end());
  for (const double scale : {1e-300, 1e-170, 1e200}) {
    std::vector<double> values;
    for (const double value : noise) values.push_back(value * scale);
    FrameReport report;
    const auto bytes = under(values, {BoundMode::psnr, 50}, &report);
    ASSERT_TRUE(bytes.ok()) << bytes.status().message();
    const auto back = decode<double>(*bytes, values.size());
    double squares = 0;
    for (size_t i = 0; i < values.size(); ++i) squares += std::pow((back[i] - values[i]) / scale, 2);
    const double reached = 20 * std::log10((*high - *low) / std::sqrt(squares / double(values.size())));
    EXPECT_GE(reached, 50 - 1e-9) << "scale " << scale;
    EXPECT_LT(reached, 52) << "scale " << scale;
    EXPECT_NEAR(reached, report.reached, 1e-6);
  }
}

// A range of subnormal numbers: bounds stay within it.
TEST(Target, ARatioOfSubnormalsIsOutOfReach) {
  std::vector<double> values(5000);
  test::Random random(9);
  for (double& value : values) value = random.uniform() * 1e-312;
  EXPECT_EQ(Code::usage, under(values, {BoundMode::ratio, 4}).status().code());
  const auto most = under(values, {BoundMode::ratio, 4, true});
  ASSERT_TRUE(most.ok()) << most.status().message();
  EXPECT_EQ(values, decode<double>(*most, values.size()));
}

TEST(Target, BoundsOfFieldsAreAbsRelAndLossless) {
  for (const char* text : {"ratio=10", "psnr=60"}) {
    EXPECT_TRUE(parse_bound(text, BoundUse::array).ok());
    EXPECT_EQ(text, to_string(*parse_bound(text, BoundUse::array)));
    const auto refused = parse_bound(text);
    EXPECT_EQ(Code::usage, refused.status().code());
    EXPECT_EQ(Code::usage, check_bound(*parse_bound(text, BoundUse::array)).code());
  }
  EXPECT_EQ(Code::usage, parse_bound("ratio=1", BoundUse::array).status().code());
  EXPECT_NE(std::string::npos,
            parse_bound("pw_rel=1", BoundUse::array).status().message().find("psnr=VALUE"));
}

// Bits a value that hardly fall until quantization codes run out, and then by a factor of twenty.
TEST(BoundSearch, GetsThereBesideACliff) {
  const auto bits = [](double bound) {
    const double at = std::log2(bound);
    return at > -28 ? 2.5 - 0.01 * (at + 28) : at > -31 ? 2.5 - 16 * (at + 28) : 50.5;
  };
  BoundSearch search(1e-3, 1e-20, 1, {3.05, 3.05, 1});
  int tries = 0;
  while (tries < 16 && std::abs(std::log(bits(search.bound()) / 3.05)) > 0.03) {
    search.tell(bits(search.bound()));
    ++tries;
  }
  EXPECT_LT(tries, 16);
}

}  // namespace
}  // namespace neve
