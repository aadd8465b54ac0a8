// SPDX-License-Identifier: BSD-3-Clause
#include "core/math/portable_math.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <random>
#include <vector>

namespace neve::math {
namespace {

// Every magnitude, denormals too, and what lies around halves and whole numbers.
template <class T>
std::vector<T> samples() {
  std::vector<T> values{0, -T{0}, std::numeric_limits<T>::max(), std::numeric_limits<T>::min(),
                        std::numeric_limits<T>::denorm_min()};
  for (int i = -20; i <= 20; ++i) {
    for (const T nudge : {T{0}, std::numeric_limits<T>::epsilon(), T{-1} / 1024}) {
      values.push_back(static_cast<T>(i) / 2 + nudge);
    }
  }
  std::mt19937_64 random(7);
  for (int i = 0; i < 200000; ++i) {
    const T value = std::bit_cast<T>(static_cast<BitsOf<T>>(random()));
    if (std::isfinite(value)) values.push_back(value);
  }
  const T whole = T{1} / std::numeric_limits<T>::epsilon();
  for (const T v : {whole - 1, whole - T{0.5}, whole, whole + 1, whole / 2 + T{0.5}}) {
    values.push_back(v);
    values.push_back(-v);
  }
  return values;
}

template <class T>
void expect_same(T found, T wanted, T of) {
  ASSERT_EQ(std::bit_cast<BitsOf<T>>(found), std::bit_cast<BitsOf<T>>(wanted)) << of;
}

template <class T>
class PortableMath : public testing::Test {};
using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(PortableMath, Types);

TYPED_TEST(PortableMath, RoundingIsNearbyint) {
  for (const TypeParam x : samples<TypeParam>()) expect_same(round_even(x), std::nearbyint(x), x);
}

TYPED_TEST(PortableMath, ScalingRoundsOnce) {
  for (const TypeParam x : samples<TypeParam>()) {
    for (const int n : {0, 1, -1, 8, -50, 126, -126, -149, 1023, -1022, -1074, 1100, -1100, 2100, -2100}) {
      expect_same(ldexp(x, n), std::ldexp(x, n), x);
    }
  }
}

TYPED_TEST(PortableMath, SplitsLikeFrexp) {
  for (const TypeParam x : samples<TypeParam>()) {
    int exponent = 0;
    const TypeParam mantissa = std::frexp(x, &exponent);
    const Split<TypeParam> found = split(x);
    expect_same(found.mantissa, mantissa, x);
    ASSERT_EQ(found.exponent, exponent) << x;
  }
}

TYPED_TEST(PortableMath, StepsTowardsZero) {
  for (const TypeParam x : samples<TypeParam>()) {
    if (x != 0) expect_same(next_towards_zero(x), std::nextafter(x, TypeParam{0}), x);
  }
}

TEST(PortableMathOfDoubles, WholeNumbersBelow) {
  for (const double x : samples<double>()) {
    ASSERT_EQ(floor(x), std::floor(x)) << x;
    ASSERT_EQ(trunc(x), std::trunc(x)) << x;
  }
}

TEST(PortableMathOfDoubles, LogarithmsAndPowersAreWithinAFewUnits) {
  constexpr double few = 8 * std::numeric_limits<double>::epsilon();
  for (const double x : samples<double>()) {
    if (x == 0) continue;
    const double positive = std::abs(x), wanted = std::log2(positive);
    ASSERT_LE(std::abs(log2(positive) - wanted), few * std::max(std::abs(wanted), 0.02)) << positive;
  }
  std::mt19937_64 random(8);
  std::uniform_real_distribution<double> exponent(-1000, 1000);
  for (int i = 0; i < 100000; ++i) {
    const double x = exponent(random);
    ASSERT_LE(std::abs(exp2(x) / std::exp2(x) - 1), few) << x;
  }
  for (int e = -1074; e < 1024; ++e) {
    EXPECT_EQ(log2(std::ldexp(1.0, e)), e);
    EXPECT_EQ(exp2(e), std::ldexp(1.0, e));
  }
  EXPECT_EQ(exp2(1e9), INFINITY);
  EXPECT_EQ(exp2(-1e9), 0);
}

TEST(PortableMathOfDoubles, SinesAreWithinAFewUnits) {
  for (int i = -100000; i <= 100000; ++i) {
    const double x = i * 0.00197;
    ASSERT_NEAR(sin(x), std::sin(x), 1e-13) << x;
    ASSERT_NEAR(cos(x), std::cos(x), 1e-13) << x;
  }
}

// The values themselves, whatever machine this runs on.
TEST(PortableMathOfDoubles, BitsAreTheSameEverywhere) {
  uint64_t hash = 0xcbf29ce484222325;
  const auto add = [&](double x) { hash = (hash ^ std::bit_cast<uint64_t>(x)) * 0x100000001b3; };
  for (int i = 1; i < 20000; ++i) {
    add(log2(i * 0.037));
    add(exp2((i - 10000) * 0.09));
    add(sin(i * 0.011));
    add(power_of_10(-i * 0.01));
  }
  EXPECT_EQ(hash, 11372071127426581111U);
}

}  // namespace
}  // namespace neve::math
