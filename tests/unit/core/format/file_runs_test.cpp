// SPDX-License-Identifier: BSD-3-Clause
// What lists of boxes have in common, against lists of their bytes.
#include "core/format/file_runs.hpp"

#include <gtest/gtest.h>

#include <array>
#include <map>
#include <vector>

#include "tests/support/any_boxes.hpp"

namespace neve {
namespace {

using test::AnyBoxes;
using test::file_bytes_of;

// Which packed byte lies where.
std::map<uint64_t, uint64_t> places(const std::vector<FileBox>& boxes) {
  std::map<uint64_t, uint64_t> found;
  uint64_t packed = 0;
  for (const uint64_t byte : file_bytes_of(boxes)) found[byte] = packed++;
  return found;
}

TEST(FileRuns, AreThoseOfAListOfBoxes) {
  AnyBoxes any(1);
  for (int trial = 0; trial < 2000; ++trial) {
    const std::vector<FileBox> boxes = any.list(3);
    std::vector<uint64_t> met;
    uint64_t packed = 0;
    for (RunCursor runs(boxes); !runs.is_done(); runs.skip_to(runs.file() + runs.bytes())) {
      ASSERT_EQ(runs.packed(), packed);
      for (uint64_t b = 0; b < runs.bytes(); ++b) met.push_back(runs.file() + b);
      packed += runs.bytes();
    }
    ASSERT_EQ(met, file_bytes_of(boxes));
  }
}

TEST(FileRuns, AreSkippedToAnyByte) {
  AnyBoxes any(2);
  for (int trial = 0; trial < 3000; ++trial) {
    const std::vector<FileBox> boxes = any.list(3);
    const auto where = places(boxes);
    RunCursor runs(boxes);
    uint64_t at = 0;
    while (true) {
      at += any.upto(30);
      runs.skip_to(at);
      const auto next = where.lower_bound(at);
      ASSERT_EQ(runs.is_done(), next == where.end());
      if (runs.is_done()) break;
      // Never backwards: it may have been further already.
      ASSERT_GE(runs.file(), next->first);
      ASSERT_EQ(runs.packed(), where.at(runs.file()));
      ASSERT_EQ(runs.packed() + runs.bytes() - 1, where.at(runs.file() + runs.bytes() - 1));
      at = std::max(at, runs.file());
    }
  }
}

TEST(FileRuns, InCommonAreThoseOfBothLists) {
  AnyBoxes any(3);
  for (int trial = 0; trial < 4000; ++trial) {
    const std::vector<FileBox> a = any.list(3), b = any.list(2);
    const auto in_a = places(a), in_b = places(b);
    std::map<uint64_t, uint64_t> wanted, got;  // packed in a, in b
    for (const auto& [byte, packed] : in_a) {
      if (in_b.contains(byte)) wanted[packed] = in_b.at(byte);
    }
    visit_common(a, b, [&](uint64_t left, uint64_t right, uint64_t bytes) {
      for (uint64_t i = 0; i < bytes; ++i) got[left + i] = right + i;
    });
    ASSERT_EQ(got, wanted);
    ASSERT_EQ(meet(a, b), !wanted.empty());
    ASSERT_EQ(meet(a[0], b[0]), meet(std::span(a).first(1), std::span(b).first(1)));
  }
}

// Parts of one array, whose strides are the same.
TEST(FileRuns, OfPartsOfAnArrayMeetWhereThePartsDo) {
  AnyBoxes any(4);
  const std::array<uint64_t, 3> shape = {7, 6, 5};
  for (int trial = 0; trial < 5000; ++trial) {
    std::vector<FileBox> parts;
    for (int i = 0; i < 2; ++i) {
      FileBox part{8, 4, 3, {}};
      uint64_t stride = 4;
      for (int d = 2; d >= 0; --d) {
        const uint64_t lo = any.upto(shape[d] - 1);
        part.first += lo * stride;
        part.directions[d] = {1 + any.upto(shape[d] - lo - 1), stride};
        stride *= shape[d];
      }
      ASSERT_TRUE(check_file_box(part).ok());
      parts.push_back(part);
    }
    const auto a = places({parts[0]}), b = places({parts[1]});
    const bool wanted = std::ranges::any_of(a, [&](const auto& entry) { return b.contains(entry.first); });
    ASSERT_EQ(meet(parts[0], parts[1]), wanted);
    ASSERT_EQ(meet(parts[1], parts[0]), wanted);
  }
}

TEST(FileRuns, OfHugeBoxesAreComparedWithoutALook) {
  FileBox left{0, 8, 2, {}}, right{1 << 20, 8, 2, {}};
  left.directions = {{{uint64_t{1} << 35, 1 << 21}, {uint64_t{1} << 17, 8}}};
  right.directions = left.directions;
  EXPECT_FALSE(meet(left, right));
  right.first -= 8;
  EXPECT_TRUE(meet(left, right));
}

}  // namespace
}  // namespace neve
