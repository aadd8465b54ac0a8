// SPDX-License-Identifier: BSD-3-Clause
// One component of a frame alone gives the same bits as the frame as a whole.
#include <gtest/gtest.h>

#include <cstring>

#include "neve/frame.hpp"
#include "tests/support/test_fields.hpp"

namespace neve {
namespace {

// Decodes each component alone and compares it with what decode() put where it belongs.
void expect_components_match(const FrameLayout& layout, std::span<const std::byte> bytes) {
  const auto frame = Frame::parse(bytes);
  ASSERT_TRUE(frame.ok()) << frame.status().message();
  std::vector<double> all(layout.element_count);
  ASSERT_TRUE(frame->decode(reinterpret_cast<std::byte*>(all.data()), all.size() * 8).ok());
  uint64_t seen = 0;
  for (int c = 0; c < layout.components; ++c) {
    std::vector<double> expected;
    uint64_t element = 0;  // in the frame
    const auto take = [&](uint64_t in_box, uint64_t cells) {
      if (in_box / cells == static_cast<uint64_t>(c)) expected.push_back(all[element]);
      ++element;
    };
    if (layout.is_split) {
      const auto cells = static_cast<uint64_t>(layout.boxes[0].cells());
      for (uint64_t i = 0; i < layout.split_count; ++i) take(layout.split_begin + i, cells);
    } else {
      for (const FrameBox& box : layout.boxes) {
        const auto cells = static_cast<uint64_t>(box.cells());
        for (uint64_t i = 0; i < cells * static_cast<uint64_t>(layout.components); ++i) take(i, cells);
      }
    }
    ASSERT_EQ(frame->component_values(c), expected.size());
    for (const int threads : {1, 3}) {
      std::vector<double> out(expected.size(), -1);
      const Status status =
          frame->decode_component(c, reinterpret_cast<std::byte*>(out.data()), out.size() * 8, threads);
      ASSERT_TRUE(status.ok()) << status.message();
      EXPECT_TRUE(expected.empty() || std::memcmp(out.data(), expected.data(), out.size() * 8) == 0)
          << "component " << c;
    }
    seen += expected.size();
  }
  EXPECT_EQ(seen, layout.held_elements());
}

TEST(FrameComponent, IsWhatTheWholeFrameHolds) {
  FrameLayout layout;
  layout.components = 3;
  std::vector<std::vector<double>> values;
  for (int b = 0; b < 5; ++b) {
    FrameBox box;
    box.size = {8 + b, 7, 3 + b, 1};
    box.covered = {Rect{{1, 1, 0, 0}, {4, 3, 2, 1}}};
    auto v = test::rough_field<double>({box.size[0], 7, box.size[2], 3}, 0.1, static_cast<uint64_t>(b));
    values.push_back(v);
    layout.boxes.push_back(box);
  }
  layout.element_count = layout.held_elements() + 17;
  std::vector<BoxData> data;
  for (size_t b = 0; b < 5; ++b) data.push_back(dense_box_data(values[b].data(), layout.boxes[b]));
  std::vector<ComponentSpec> specs(3);
  for (ComponentSpec& spec : specs) spec.bound_abs = 1e-3;
  specs[1].drop_covered = true;
  specs[2].codec = Codec::exact;
  const auto bytes = encode_frame(DType::f64, layout, specs, data);
  ASSERT_TRUE(bytes.ok()) << bytes.status().message();
  expect_components_match(layout, *bytes);

  const auto frame = Frame::parse(*bytes);
  std::vector<double> out(frame->component_values(0));
  auto* const raw = reinterpret_cast<std::byte*>(out.data());
  EXPECT_EQ(frame->decode_component(0, raw, out.size() * 8 - 8).code(), Code::usage);
  EXPECT_EQ(frame->decode_component(3, raw, out.size() * 8).code(), Code::usage);
  EXPECT_EQ(frame->decode_component(-1, raw, out.size() * 8).code(), Code::usage);
  EXPECT_EQ(frame->component_values(3), 0u);
}

TEST(FrameComponent, OfASplitBoxIsTheCellsThatTheFrameHolds) {
  FrameBox box;
  box.size = {13, 11, 9, 1};
  const auto values = test::rough_field<double>({13, 11, 9, 2}, 0.02, 1);
  for (const uint64_t cut : {12UL, 143UL, 500UL, 1287UL, 1300UL}) {
    for (uint64_t begin = 0; begin < values.size(); begin += cut) {
      SCOPED_TRACE("cut " + std::to_string(cut) + " at " + std::to_string(begin));
      FrameLayout layout;
      layout.components = 2;
      layout.boxes = {box};
      layout.is_split = true;
      layout.split_begin = begin;
      layout.split_count = std::min<uint64_t>(cut, values.size() - begin);
      layout.element_count = cut;
      std::vector<ComponentSpec> specs(2);
      specs[0].bound_abs = specs[1].bound_abs = 1e-3;
      const std::vector<BoxData> data{dense_box_data(values.data(), box)};
      const auto bytes = encode_frame(DType::f64, layout, specs, data);
      ASSERT_TRUE(bytes.ok()) << bytes.status().message();
      expect_components_match(layout, *bytes);
    }
  }
}

}  // namespace
}  // namespace neve
