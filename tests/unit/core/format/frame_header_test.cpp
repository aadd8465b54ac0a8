// SPDX-License-Identifier: BSD-3-Clause
// Headers at their limits: what the writer makes the reader takes, and a short header cannot claim much
// memory.
#include "core/format/frame_header.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <numeric>

#include "core/bits/checksum.hpp"
#include "neve/frame.hpp"

namespace neve {
namespace {

FrameLayout row_of_boxes(int64_t boxes, int components) {
  FrameLayout layout;
  layout.ndim = 1;
  layout.components = components;
  for (int64_t b = 0; b < boxes; ++b) layout.boxes.push_back({{b, 0, 0, 0}, {1, 1, 1, 1}, {}});
  layout.element_count = static_cast<uint64_t>(boxes * components);
  return layout;
}

int64_t resident_peak_bytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return int64_t{usage.ru_maxrss} * 1024;
}

// Half a million boxes in a row are one byte after another: their list shrinks a thousandfold.
TEST(FrameHeader, AHeaderThatShrinksWellIsReadBack) {
  const FrameLayout layout = row_of_boxes(500000, 1);
  std::vector<double> values(500000);
  std::iota(values.begin(), values.end(), 0.0);
  std::vector<BoxData> data;
  for (size_t b = 0; b < layout.boxes.size(); ++b)
    data.push_back(dense_box_data(&values[b], layout.boxes[b]));
  ComponentSpec spec;
  spec.bound_abs = 0.25;
  const auto frame = encode_frame(DType::f64, layout, std::span(&spec, 1), data);
  ASSERT_TRUE(frame.ok()) << frame.status().message();
  const auto parsed = Frame::parse(*frame);
  ASSERT_TRUE(parsed.ok()) << parsed.status().message();
  std::vector<double> back(values.size());
  ASSERT_TRUE(parsed->decode(reinterpret_cast<std::byte*>(back.data()), back.size() * sizeof(double)).ok());
  for (size_t i = 0; i < back.size(); ++i) ASSERT_NEAR(back[i], values[i], 0.25);
}

FrameHeader header_of(const FrameLayout& layout) {
  FrameHeader header;
  header.layout = layout;
  header.components.resize(static_cast<size_t>(layout.components));
  return header;
}

// 400,000 boxes times 500 components: 200 million rectangles if each section listed its own.
TEST(FrameHeader, ManyBoxesAndComponentsCostWhatTheirListsCost) {
  FrameHeader header = header_of(row_of_boxes(400000, 500));
  constexpr size_t tiles = (400000 + (1 << 16) - 1) / (1 << 16);
  header.sections.resize(tiles * 500);
  const auto bytes = serialize_header(header);
  ASSERT_TRUE(bytes.ok()) << bytes.status().message();
  const int64_t before = resident_peak_bytes();
  const auto frame = Frame::parse(*bytes);
  ASSERT_TRUE(frame.ok()) << frame.status().message();
  EXPECT_EQ(frame->sections().size(), tiles * 500);
  EXPECT_LT(resident_peak_bytes() - before, int64_t{512} << 20);
}

TEST(FrameHeader, BoxesTooFarAwayAreRefused) {
  for (const int64_t lo : {max_box_position, -max_box_position}) {
    FrameLayout layout = row_of_boxes(3, 1);
    layout.boxes[1].lo[0] = lo;  // a step of twice the limit follows
    layout.boxes[2].lo[0] = -lo;
    FrameHeader header = header_of(layout);
    header.sections.resize(1);
    EXPECT_TRUE(check_layout(layout).ok());
    const auto good = serialize_header(header);
    ASSERT_TRUE(good.ok());
    ASSERT_TRUE(Frame::parse(*good).ok()) << Frame::parse(*good).status().message();

    for (const int64_t beyond : {lo + (lo > 0 ? 1 : -1), lo * 1024, lo * (int64_t{1} << 22)}) {
      header.layout.boxes[1].lo[0] = beyond;
      header.layout.boxes[2].lo[0] = 0;
      EXPECT_EQ(check_layout(header.layout).code(), Code::usage);
      const auto bad = serialize_header(header);
      ASSERT_TRUE(bad.ok());
      const auto frame = Frame::parse(*bad);
      ASSERT_FALSE(frame.ok());
      EXPECT_EQ(frame.status().code(), Code::corrupt);
      EXPECT_NE(frame.status().message().find("box 1 lies at"), std::string::npos)
          << frame.status().message();
    }
  }
}

TEST(FrameHeader, CoveredRectanglesLargerThanAnyBoxAreRefused) {
  FrameLayout layout = row_of_boxes(1, 1);
  layout.boxes[0].covered = {{{0, 0, 0, 0}, {(int64_t{1} << 40) + 1, 1, 1, 1}}};
  FrameHeader header = header_of(layout);
  header.sections.resize(1);
  const auto bytes = serialize_header(header);
  ASSERT_TRUE(bytes.ok());
  const auto frame = Frame::parse(*bytes);
  ASSERT_FALSE(frame.ok());
  EXPECT_NE(frame.status().message().find("covered rectangle"), std::string::npos)
      << frame.status().message();
}

}  // namespace
}  // namespace neve
