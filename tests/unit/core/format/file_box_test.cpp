// SPDX-License-Identifier: BSD-3-Clause
// Boxes of values in a file against lists of their bytes.
#include "core/format/file_box.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "tests/support/any_boxes.hpp"

namespace neve {
namespace {

using Bytes = std::vector<uint64_t>;  // where the packed bytes of values lie in the file

using test::file_bytes_of;

class FileBoxes : public ::testing::Test {
 protected:
  uint64_t upto(uint64_t most) { return any_.upto(most); }
  FileBox any_box() { return any_.box(); }

 private:
  test::AnyBoxes any_{20261128};
};

TEST_F(FileBoxes, SayWhatTheirValuesAre) {
  for (int trial = 0; trial < 3000; ++trial) {
    const FileBox box = any_box();
    ASSERT_TRUE(check_file_box(box).ok()) << check_file_box(box).message();
    const Bytes bytes = file_bytes_of({box});
    ASSERT_EQ(box.bytes(), bytes.size());
    ASSERT_EQ(box.end(), bytes.back() + 1);
    ASSERT_TRUE(std::ranges::is_sorted(bytes));
    ASSERT_TRUE(std::ranges::adjacent_find(bytes) == bytes.end());
    ASSERT_EQ(box.is_contiguous(), bytes.back() - bytes.front() + 1 == bytes.size());
  }
}

TEST_F(FileBoxes, StayTheSameValuesWhenMerged) {
  for (int trial = 0; trial < 3000; ++trial) {
    const FileBox box = any_box();
    const FileBox least = merged(box);
    ASSERT_TRUE(check_file_box(least).ok());
    ASSERT_EQ(file_bytes_of({box}), file_bytes_of({least}));
    ASSERT_EQ(merged(least), least);
    ASSERT_LE(least.ndim, box.is_contiguous() ? 1 : 4);
  }
}

TEST_F(FileBoxes, AreCutIntoFewBoxes) {
  for (int trial = 0; trial < 5000; ++trial) {
    const FileBox box = any_box();
    const Bytes whole = file_bytes_of({box});
    uint64_t begin = upto(box.values());
    uint64_t end = upto(box.values());
    if (begin > end) std::swap(begin, end);
    std::vector<FileBox> slice;
    append_slice(box, begin, end, slice);
    ASSERT_LE(slice.size(), std::max(2 * box.ndim - 1, 1));
    ASSERT_EQ(file_bytes_of(slice), Bytes(whole.begin() + static_cast<int64_t>(begin * box.value_bytes),
                                          whole.begin() + static_cast<int64_t>(end * box.value_bytes)));
    for (const FileBox& part : slice) ASSERT_EQ(part.value_bytes, box.value_bytes);
  }
}

TEST_F(FileBoxes, AreCutAtAnyByte) {
  for (int trial = 0; trial < 5000; ++trial) {
    const FileBox box = any_box();
    const Bytes whole = file_bytes_of({box});
    uint64_t begin = upto(whole.size());
    uint64_t end = upto(whole.size());
    if (begin > end) std::swap(begin, end);
    std::vector<FileBox> slice;
    append_byte_slice(box, begin, end, slice);
    ASSERT_LE(slice.size(), 2 * box.ndim + 1);
    ASSERT_EQ(file_bytes_of(slice),
              Bytes(whole.begin() + static_cast<int64_t>(begin), whole.begin() + static_cast<int64_t>(end)));
    for (const FileBox& part : slice) ASSERT_TRUE(check_file_box(part).ok());
  }
}

TEST_F(FileBoxes, VisitTheRunsOfARange) {
  for (int trial = 0; trial < 5000; ++trial) {
    const FileBox box = any_box();
    const Bytes whole = file_bytes_of({box});
    const uint64_t at = upto(box.end() + 10);
    const uint64_t bytes = upto(box.span_bytes());
    Bytes met;
    Bytes packed;
    uint64_t behind = 0;
    visit_runs(box, at, bytes, [&](uint64_t among, uint64_t in_file, uint64_t run) {
      ASSERT_GT(run, 0U);
      ASSERT_GE(in_file, behind);
      behind = in_file + run;
      for (uint64_t b = 0; b < run; ++b) {
        packed.push_back(among + b);
        met.push_back(in_file + b);
      }
    });
    Bytes expected;
    Bytes expected_packed;
    for (uint64_t b = 0; b < whole.size(); ++b) {
      if (whole[b] < at || whole[b] >= at + bytes) continue;
      expected.push_back(whole[b]);
      expected_packed.push_back(b);
    }
    ASSERT_EQ(met, expected);
    ASSERT_EQ(packed, expected_packed);
  }
}

TEST(FileBox, VisitsOnlyTheRunsItIsAskedFor) {
  FileBox box{0, 8, 2, {}};
  box.directions[0] = {uint64_t{1} << 40, 1 << 20};
  box.directions[1] = {uint64_t{1} << 15, 16};
  uint64_t runs = 0;
  visit_runs(box, uint64_t{1} << 59, 1 << 20, [&](uint64_t, uint64_t, uint64_t) { ++runs; });
  EXPECT_EQ(runs, uint64_t{1} << 15);
}

TEST(FileBox, OfALine) {
  const FileBox line = line_box(24, 8, 10);
  EXPECT_TRUE(check_file_box(line).ok());
  EXPECT_TRUE(line.is_contiguous());
  EXPECT_EQ(line.end(), 104U);
  EXPECT_EQ(line.values(), 10U);
}

void expect_refused(const FileBox& box, const char* part) {
  const Status status = check_file_box(box);
  ASSERT_FALSE(status.ok()) << part;
  EXPECT_EQ(status.code(), Code::usage);
  EXPECT_NE(status.message().find(part), std::string::npos) << status.message();
}

TEST(FileBox, RefusesWhatOverlapsItselfOrEndsTooFarOut) {
  const FileBox good = line_box(0, 8, 4);
  FileBox box = good;
  box.value_bytes = 0;
  expect_refused(box, "values of 0 bytes");
  box = good;
  box.ndim = 5;
  expect_refused(box, "5 directions");
  box.ndim = -1;
  expect_refused(box, "-1 directions");
  box = good;
  box.directions[0].count = 0;
  expect_refused(box, "no values");
  box = good;
  box.directions[0].stride = 7;
  expect_refused(box, "repeats 8 bytes every 7");
  box.directions[0] = {1, 0};
  expect_refused(box, "every 0 bytes");
  box = good;
  box.first = max_file_bytes + 1;
  expect_refused(box, "a box at byte");
  box.first = max_file_bytes - 31;
  expect_refused(box, "ends behind");
  box.first = max_file_bytes - 32;
  EXPECT_TRUE(check_file_box(box).ok());
  box = good;
  box.directions[0] = {~uint64_t{0}, ~uint64_t{0}};
  expect_refused(box, "ends behind");
  box.ndim = 2;
  box.directions = {{{~uint64_t{0}, 32}, {4, 8}}};
  expect_refused(box, "ends behind");
  box.directions = {{{2, uint64_t{1} << 63}, {4, 8}}};
  expect_refused(box, "ends behind");
}

}  // namespace
}  // namespace neve
