// SPDX-License-Identifier: BSD-3-Clause
#include "neve/members.hpp"

#include <gtest/gtest.h>

#include <tuple>

namespace neve {
namespace {

struct Two {
  int first = 1;
  double second = 2;
};

struct TwentyFour {
  int a = 1, b = 2, c = 3, d = 4, e = 5, f = 6, g = 7, h = 8, i = 9, j = 10, k = 11, l = 12;
  int m = 13, n = 14, o = 15, p = 16, q = 17, r = 18, s = 19, t = 20, u = 21, v = 22, w = 23, x = 24;
};

TEST(AllMembers, AreReferencesToEach) {
  const Two two;
  EXPECT_EQ(all_members<2>(two), std::make_tuple(1, 2.0));
  TwentyFour many;
  const auto tied = all_members<24>(many);
  EXPECT_EQ(std::get<0>(tied), 1);
  many.x = 99;
  EXPECT_EQ(std::get<23>(tied), 99);
  EXPECT_NE(all_members<24>(many), all_members<24>(TwentyFour{}));
}

}  // namespace
}  // namespace neve
