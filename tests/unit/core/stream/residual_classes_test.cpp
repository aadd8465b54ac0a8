// SPDX-License-Identifier: BSD-3-Clause
#include "core/stream/residual_classes.hpp"

#include <gtest/gtest.h>

#include "tests/support/test_fields.hpp"

namespace neve::stream {
namespace {

int32_t restored(const ClassedResidual& c) {
  const ResidualClass found = residual_class(c.symbol);
  EXPECT_EQ(c.bits, found.bits);
  EXPECT_LT(c.extra, uint64_t{1} << c.bits);
  const uint32_t magnitude = found.least + c.extra;
  return static_cast<int32_t>(found.is_negative ? 0U - magnitude : magnitude);
}

TEST(ResidualClasses, EveryResidualComesBack) {
  test::Random random(3);
  const auto check = [](int64_t residual) {
    const auto r = static_cast<int32_t>(residual);
    const ClassedResidual c = classed(r);
    ASSERT_NE(c.symbol, wide_symbol_escape) << r;
    ASSERT_EQ(r, restored(c)) << r;
    ASSERT_EQ(c.bits, extra_bits_of(r));
  };
  for (int64_t r = -5000; r <= 5000; ++r) check(r);
  for (int bit = 12; bit < 31; ++bit) {
    for (int64_t near = -40; near <= 40; ++near) {
      check((int64_t{1} << bit) + near);
      check(-(int64_t{1} << bit) + near);
    }
    for (int k = 0; k < 100; ++k) check(random.below(int64_t{1} << (bit + 1)) - (int64_t{1} << bit));
  }
  check(INT32_MAX);
  check(-int64_t{INT32_MAX});
}

TEST(ResidualClasses, OnlyOneIsAnEscape) {
  const ClassedResidual c = classed(unclassed_residual);
  EXPECT_EQ(wide_symbol_escape, c.symbol);
  EXPECT_EQ(0, c.bits);
  EXPECT_EQ(0U, c.extra);
}

TEST(ResidualClasses, EverySymbolIsOneClassAndTheyLieNextToEachOther) {
  for (uint32_t s = wide_symbol_zero; s < wide_symbol_count; ++s) {
    const ResidualClass c = residual_class(s);
    EXPECT_EQ(s, classed(static_cast<int32_t>(c.least)).symbol);
    const uint32_t end = c.least + (1U << c.bits);
    if (s + 1 < wide_symbol_count) {
      EXPECT_EQ(end, residual_class(s + 1).least);
    } else {
      EXPECT_EQ(1U << 31, end);
    }
    if (s > wide_symbol_zero && s < wide_symbol_count) {
      EXPECT_EQ(c.least, residual_class(2 * wide_symbol_zero - s).least);
    }
  }
}

}  // namespace
}  // namespace neve::stream
