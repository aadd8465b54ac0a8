// SPDX-License-Identifier: BSD-3-Clause
// Integers of every size: each bit comes back by every method, and what is not for integers is refused by
// name.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

#include "core/stages/lossless/value_multiples.hpp"
#include "core/stages/lossless/value_ranks.hpp"
#include "neve/frame.hpp"
#include "tests/support/test_fields.hpp"

namespace neve {
namespace {

template <class T>
constexpr DType dtype_of() {
  constexpr bool is_signed = std::is_signed_v<T>;
  switch (sizeof(T)) {
    case 1:
      return is_signed ? DType::i8 : DType::u8;
    case 2:
      return is_signed ? DType::i16 : DType::u16;
    case 4:
      return is_signed ? DType::i32 : DType::u32;
    default:
      return is_signed ? DType::i64 : DType::u64;
  }
}

ArrayOptions lossless(LosslessMethod method = LosslessMethod::automatic) {
  ArrayOptions options;
  options.bound = {BoundMode::lossless, 0};
  options.tuning.method = method;
  options.encode.effort = Effort::max;
  return options;
}

struct Outcome {
  std::vector<std::byte> frame;
  ComponentReport report;
  std::optional<uint64_t> fill;
};

// Encodes and decodes; fails unless every bit is back.
template <class T>
Outcome round_trip(const std::vector<uint64_t>& shape, const std::vector<T>& values,
                   const ArrayOptions& options) {
  FrameReport report;
  Result<std::vector<std::byte>> frame = encode_array(dtype_of<T>(), shape, values.data(), options, &report);
  EXPECT_TRUE(frame.ok()) << frame.status().message();
  if (!frame.ok()) return {};
  const Result<Frame> parsed = Frame::parse(*frame);
  EXPECT_TRUE(parsed.ok()) << parsed.status().message();
  if (!parsed.ok()) return {};
  EXPECT_EQ(parsed->dtype(), dtype_of<T>());
  std::vector<T> back(values.size(), T{42});
  const Status decoded = parsed->decode(reinterpret_cast<std::byte*>(back.data()), back.size() * sizeof(T));
  EXPECT_TRUE(decoded.ok()) << decoded.message();
  EXPECT_EQ(back, values);
  return {std::move(*frame), report.components.empty() ? ComponentReport{} : report.components[0],
          parsed->components()[0].integer_fill};
}

// A ramp in two directions with noise, around `middle`.
template <class T>
std::vector<T> ramp(int64_t width, int64_t cells, double step, int64_t noise, T middle) {
  test::Random random(7);
  std::vector<T> values;
  for (int64_t i = 0; i < cells; ++i) {
    const auto rise = static_cast<int64_t>(step * static_cast<double>(i % width + i / width));
    values.push_back(static_cast<T>(static_cast<uint64_t>(middle) + static_cast<uint64_t>(rise) +
                                    static_cast<uint64_t>(random.below(noise + 1))));
  }
  return values;
}

template <class T>
class Integers : public testing::Test {};
using IntegerTypes = testing::Types<int8_t, uint8_t, int16_t, uint16_t, int32_t, uint32_t, int64_t, uint64_t>;
TYPED_TEST_SUITE(Integers, IntegerTypes);

TYPED_TEST(Integers, EveryMethodKeepsEveryBit) {
  using T = TypeParam;
  using L = std::numeric_limits<T>;
  const std::vector<std::vector<uint64_t>> shapes = {
      {},         {0},          {3, 0, 2},         {1}, {2}, {3000}, {1, 700}, {700, 1}, {23, 31}, {1, 1, 5},
      {7, 9, 11}, {3, 5, 7, 9}, {2, 2, 1, 3, 4, 5}};
  const std::vector<T> extremes = {L::min(), L::max(),           T{0},
                                   T{1},     static_cast<T>(-1), static_cast<T>(L::min() + 1)};
  for (int m = 0; m < lossless_methods; ++m) {
    const auto method = static_cast<LosslessMethod>(m);
    SCOPED_TRACE(std::string(lossless_method_name(method)));
    for (const auto& shape : shapes) {
      const auto cells =
          static_cast<int64_t>(std::accumulate(shape.begin(), shape.end(), uint64_t{1}, std::multiplies<>()));
      auto values = ramp<T>(31, cells, 0.3, 2, T{5});
      round_trip(shape, values, lossless(method));
      for (size_t i = 0; i < values.size(); i += 3) values[i] = extremes[(i / 3) % extremes.size()];
      round_trip(shape, values, lossless(method));
    }
    test::Random random(3);
    std::vector<T> noise(4000);
    for (T& value : noise) value = static_cast<T>(random.next());
    round_trip({noise.size()}, noise, lossless(method));
  }
  round_trip({20, 30}, ramp<T>(30, 600, 1, 3, T{0}), [] {
    ArrayOptions exact = lossless();
    exact.codec = Codec::exact;
    return exact;
  }());
}

TYPED_TEST(Integers, ConstantsCostNothing) {
  using T = TypeParam;
  for (const T value : {std::numeric_limits<T>::min(), std::numeric_limits<T>::max(), T{0}}) {
    const auto [frame, report, fill] = round_trip({1000, 100}, std::vector<T>(100000, value), lossless());
    EXPECT_LT(frame.size(), 150U);
    EXPECT_EQ(report.codec, Codec::constant);
  }
}

TYPED_TEST(Integers, DifferencesDoNotKnowTheSign) {
  using T = TypeParam;
  // Around 0, where unsigned words leap, and around the middle, where signed ones do.
  const uint64_t middle = uint64_t{1} << (8 * sizeof(T) - 1);
  const auto lorenzo = lossless(LosslessMethod::lorenzo);
  ArrayOptions rank = lossless(LosslessMethod::rank);
  rank.detect_fill = false;
  for (const auto& options : {lorenzo, rank}) {
    const size_t at_5 = round_trip({4000}, ramp<T>(40, 4000, 0.1, 1, T{5}), options).frame.size();
    for (const T around : {static_cast<T>(-5), static_cast<T>(middle - 5)}) {
      EXPECT_LE(round_trip({4000}, ramp<T>(40, 4000, 0.1, 1, around), options).frame.size(), at_5 + 64);
    }
  }
}

TYPED_TEST(Integers, CommonDivisorsAreTakenOut) {
  using T = TypeParam;
  auto values = ramp<T>(40, 4000, 0.1, 3, T{0});
  const size_t plain = round_trip({100, 40}, values, lossless()).frame.size();
  for (T& value : values) value = static_cast<T>(value * 7 - 60);
  const Outcome multiple = round_trip({100, 40}, values, lossless(LosslessMethod::multiple));
  EXPECT_LE(multiple.frame.size(), plain + 16);
  EXPECT_LT(multiple.frame.size(),
            round_trip({100, 40}, values, lossless(LosslessMethod::lorenzo)).frame.size());
}

TYPED_TEST(Integers, FillValuesAreExactAndCostLittle) {
  using T = TypeParam;
  using L = std::numeric_limits<T>;
  const auto smooth = ramp<T>(40, 4000, 0.1, 1, T{5});
  const size_t whole = round_trip({100, 40}, smooth, lossless(LosslessMethod::lorenzo)).frame.size();
  // netCDF's defaults, extremes, and past what a double holds.
  std::vector<T> fills = {L::max(), static_cast<T>(L::max() - (sizeof(T) == 8 ? 1 : 0))};
  if (std::is_signed_v<T>) fills = {L::min(), L::max(), static_cast<T>(L::min() + (sizeof(T) == 8 ? 2 : 1))};
  for (const T fill : fills) {
    auto values = smooth;
    for (size_t i = 0; i < values.size(); ++i) {
      if (i % 40 < 20) values[i] = fill;
    }
    const Outcome detected = round_trip({100, 40}, values, lossless(LosslessMethod::lorenzo));
    ASSERT_TRUE(detected.fill.has_value());
    EXPECT_EQ(static_cast<T>(*detected.fill), fill);
    EXPECT_TRUE(holds_integer(dtype_of<T>(), *detected.fill));
    EXPECT_LT(detected.frame.size(), whole);
    ArrayOptions given = lossless(LosslessMethod::lorenzo);
    given.integer_fill = static_cast<uint64_t>(fill);
    EXPECT_EQ(round_trip({100, 40}, values, given).frame, detected.frame);
    ArrayOptions none = lossless(LosslessMethod::lorenzo);
    none.detect_fill = false;
    EXPECT_FALSE(round_trip({100, 40}, values, none).fill.has_value());
  }
}

TYPED_TEST(Integers, WhatIsNotForThemIsRefusedByName) {
  using T = TypeParam;
  const std::vector<T> values = {1, 2, 3};
  const auto refused = [&](const ArrayOptions& options, const std::string& words) {
    const auto frame = encode_array(dtype_of<T>(), std::vector<uint64_t>{3}, values.data(), options);
    ASSERT_FALSE(frame.ok());
    EXPECT_EQ(frame.status().code(), Code::usage);
    EXPECT_NE(frame.status().message().find(words), std::string::npos) << frame.status().message();
    EXPECT_NE(frame.status().message().find(dtype_name(dtype_of<T>())), std::string::npos);
  };
  for (const Bound& bound : {Bound{BoundMode::abs, 0.5}, Bound{BoundMode::rel, 1e-3}}) {
    ArrayOptions options = lossless();
    options.bound = bound;
    refused(options, "integers are kept bit for bit");
  }
  for (const Codec codec :
       {Codec::dual_quant, Codec::lorenzo_regression, Codec::interpolation, Codec::context}) {
    ArrayOptions options = lossless();
    options.codec = codec;
    refused(options, "codec " + std::string(codec_name(codec)));
  }
  ArrayOptions fraction = lossless();
  fraction.fill = 2.5;
  refused(fraction, "floating-point fill value 2.5");
  if (sizeof(T) < 8) {
    ArrayOptions outside = lossless();
    outside.integer_fill = uint64_t{1} << 40;
    refused(outside, "does not fit");
  }
}

TYPED_TEST(Integers, DamageIsRefusedOrHarmless) {
  using T = TypeParam;
  auto values = ramp<T>(20, 900, 0.2, 2, T{3});
  for (size_t i = 0; i < values.size(); i += i % 40 < 20 ? 1 : 21) values[i] = std::numeric_limits<T>::max();
  test::Random random(11);
  const auto decodes_to = [&](std::span<const std::byte> bytes, std::vector<T>& out) {
    const auto parsed = Frame::parse(bytes);
    if (!parsed.ok() || parsed->shape().element_count != values.size() || parsed->dtype() != dtype_of<T>()) {
      return false;
    }
    out.resize(values.size());
    return parsed->decode(reinterpret_cast<std::byte*>(out.data()), out.size() * sizeof(T)).ok();
  };
  std::vector<T> out;
  for (int m = 1; m < lossless_methods; ++m) {
    const auto method = static_cast<LosslessMethod>(m);
    SCOPED_TRACE(std::string(lossless_method_name(method)));
    const auto frame = round_trip({45, 20}, values, lossless(method)).frame;
    for (size_t size = 0; size < frame.size(); ++size) {
      EXPECT_FALSE(decodes_to(std::span(frame).first(size), out)) << size;
    }
    for (int k = 0; k < 200; ++k) {
      auto damaged = frame;
      damaged[static_cast<size_t>(random.below(static_cast<int64_t>(frame.size())))] ^=
          static_cast<std::byte>(1 << random.below(8));
      if (decodes_to(damaged, out)) {
        EXPECT_EQ(out, values);
      }
    }
  }
}

TEST(IntegerTypes, HoldTheirValues) {
  EXPECT_TRUE(holds_integer(DType::i8, static_cast<uint64_t>(-128)));
  EXPECT_FALSE(holds_integer(DType::i8, 128));
  EXPECT_FALSE(holds_integer(DType::i8, static_cast<uint64_t>(-129)));
  EXPECT_TRUE(holds_integer(DType::u16, 65535));
  EXPECT_FALSE(holds_integer(DType::u16, 65536));
  EXPECT_FALSE(holds_integer(DType::u32, static_cast<uint64_t>(-1)));
  EXPECT_TRUE(holds_integer(DType::u64, static_cast<uint64_t>(-1)));
  EXPECT_TRUE(holds_integer(DType::i64, static_cast<uint64_t>(-1)));
  EXPECT_EQ(integer_text(DType::i16, static_cast<uint64_t>(-5)), "-5");
  EXPECT_EQ(integer_text(DType::u64, static_cast<uint64_t>(-1)), "18446744073709551615");
}

TEST(IntegerTypes, BoundsOfFloatsStayTheirs) {
  const std::vector<float> values = {1, 2, 3};
  ArrayOptions options;
  options.bound = {BoundMode::rel, 1e-3};
  options.integer_fill = 7;
  const auto frame = encode_array(DType::f32, std::vector<uint64_t>{3}, values.data(), options);
  ASSERT_FALSE(frame.ok());
  EXPECT_NE(frame.status().message().find("integer fill value"), std::string::npos);
}

TEST(ValueRanks, RiseFromBehindTheWidestGap) {
  const std::vector<uint8_t> around_zero = {1, 255, 0, 254, 2, 255, 1, 0, 254, 2, 1, 0, 255, 2, 254};
  EXPECT_EQ(*distinct_words<uint8_t>(around_zero, true), (std::vector<uint8_t>{254, 255, 0, 1, 2}));
  EXPECT_EQ(*distinct_words<uint8_t>(around_zero, false), (std::vector<uint8_t>{0, 1, 2, 254, 255}));
}

TEST(ValueMultiples, DivisorsOfIntegers) {
  const auto unit = [](std::vector<uint16_t> values) { return find_unit<uint16_t>(values); };
  ASSERT_TRUE(unit({10, 16, 4, 65534}).has_value());  // 65534 is -2
  EXPECT_EQ(unit({10, 16, 4, 65534})->divisor, 6U);
  EXPECT_FALSE(unit({10, 16, 5}).has_value());
  EXPECT_FALSE(unit({10, 10, 10}).has_value());
  const Multiples<uint16_t> sixes(*unit({10, 16, 4, 65534}));
  for (const uint16_t value : {10, 16, 4, 65534}) EXPECT_EQ(sixes.value(*sixes.multiple(value)), value);
  EXPECT_FALSE(sixes.multiple(11).has_value());
}

}  // namespace
}  // namespace neve
