// SPDX-License-Identifier: BSD-3-Clause
// neve::Span is std::span to whoever has one, and to whoever has none.
#include "neve/span.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

namespace neve {
namespace {

int sum(Span<const int> values) {
  int total = 0;
  for (const int value : values) total += value;
  return total;
}
size_t length(std::span<const int> values) { return values.size(); }

TEST(Span, TakesWhatLiesInARow) {
  const int plain[] = {1, 2, 3};
  std::vector<int> vector = {4, 5};
  const std::array<int, 2> array = {6, 7};
  EXPECT_EQ(sum(plain), 6);
  EXPECT_EQ(sum(vector), 9);
  EXPECT_EQ(sum(array), 13);
  EXPECT_EQ(sum(std::span<int>(vector)), 9);
  EXPECT_EQ(sum(Span<int>(vector)), 9);
  EXPECT_EQ(sum({vector.data(), 1}), 4);
  EXPECT_EQ(sum({}), 0);
}

TEST(Span, RefusesWhatDoesNotConvert) {
  static_assert(!std::is_convertible_v<const std::vector<int>&, Span<int>>);
  static_assert(!std::is_convertible_v<std::vector<double>&, Span<const int>>);
  static_assert(!std::is_convertible_v<Span<const int>, Span<int>>);
  static_assert(std::is_convertible_v<Span<int>, std::span<const int>>);
  static_assert(std::is_convertible_v<Span<const int>, std::span<const int>>);
  EXPECT_EQ(length(Span<const int>()), 0u);
}

TEST(Span, PartsAreThoseOfStdSpan) {
  std::vector<int> values = {1, 2, 3, 4, 5};
  const Span<int> ours(values);
  const std::span<int> theirs(values);
  const auto same = [](Span<int> a, std::span<int> b) {
    return a.data() == b.data() && a.size() == b.size() && a.size_bytes() == b.size_bytes();
  };
  EXPECT_TRUE(same(ours.first(2), theirs.first(2)));
  EXPECT_TRUE(same(ours.last(2), theirs.last(2)));
  EXPECT_TRUE(same(ours.subspan(1), theirs.subspan(1)));
  EXPECT_TRUE(same(ours.subspan(1, 3), theirs.subspan(1, 3)));
  EXPECT_EQ(ours.front(), 1);
  EXPECT_EQ(ours.back(), 5);
  EXPECT_FALSE(ours.empty());
  ours[2] = 9;
  EXPECT_EQ(values[2], 9);
  EXPECT_TRUE(std::ranges::equal(ours, theirs));
}

}  // namespace
}  // namespace neve
