// SPDX-License-Identifier: BSD-3-Clause
#include "bench/harness/median.hpp"

#include <gtest/gtest.h>

namespace neve::apps {
namespace {

TEST(Median, IsInTheMiddleWhateverTheOrder) {
  EXPECT_EQ(median_of({7}), 7);
  EXPECT_EQ(median_of({9, 1, 4}), 4);
  EXPECT_EQ(median_of({5, 1, 1, 100, 2}), 2);
}

TEST(Median, OfAnEvenNumberIsTheMeanOfBothInTheMiddle) {
  EXPECT_EQ(median_of({3, 1}), 2);
  EXPECT_EQ(median_of({100, 1, 2, 5}), 3.5);
}

}  // namespace
}  // namespace neve::apps
