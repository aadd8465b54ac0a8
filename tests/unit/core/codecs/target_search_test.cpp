// SPDX-License-Identifier: BSD-3-Clause
// Arrays under a ratio or a PSNR.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "core/select/bound_search.hpp"
#include "neve/frame.hpp"
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
  BoundSearch search(1e-3, 3.05, 1);
  int tries = 0;
  while (tries < 16 && std::abs(std::log(bits(search.bound()) / 3.05)) > 0.03) {
    search.tell(bits(search.bound()));
    ++tries;
  }
  EXPECT_LT(tries, 16);
}

}  // namespace
}  // namespace neve
