// SPDX-License-Identifier: BSD-3-Clause
// Whether a hierarchy came back as it was written.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>

#include "neve/hierarchy.hpp"

namespace neve::test {

inline void expect_same(const Hierarchy& a, const Hierarchy& b) {
  EXPECT_EQ(a.dims, b.dims);
  EXPECT_EQ(a.dtype, b.dtype);
  EXPECT_EQ(a.components, b.components);
  EXPECT_EQ(a.time, b.time);
  EXPECT_EQ(a.prob_lo, b.prob_lo);
  EXPECT_EQ(a.prob_hi, b.prob_hi);
  EXPECT_EQ(a.side_files, b.side_files);
  ASSERT_EQ(a.levels.size(), b.levels.size());
  for (size_t l = 0; l < a.levels.size(); ++l) {
    EXPECT_EQ(a.levels[l].domain, b.levels[l].domain);
    EXPECT_EQ(a.levels[l].boxes, b.levels[l].boxes);
    EXPECT_EQ(a.levels[l].dx, b.levels[l].dx);
    EXPECT_EQ(a.levels[l].ref_ratio, b.levels[l].ref_ratio);
    EXPECT_EQ(a.levels[l].step, b.levels[l].step);
    EXPECT_EQ(a.levels[l].time, b.levels[l].time);
  }
}

}  // namespace neve::test
