// SPDX-License-Identifier: BSD-3-Clause
// When codec lossless is coded beside the codecs that quantize, which costs several times what they do.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <numeric>

#include "core/sections/middle_part.hpp"
#include "neve/frame.hpp"
#include "tests/support/test_fields.hpp"

namespace neve {
namespace {

using Field = std::function<double(int64_t x, int64_t y, int64_t z)>;

// A level of equal boxes along x.
struct Boxes {
  FrameLayout layout;
  std::vector<std::vector<double>> values;

  Boxes(int64_t count, int64_t side, const Field& field) {
    layout.ndim = 3;
    layout.components = 1;
    for (int64_t b = 0; b < count; ++b) {
      FrameBox box;
      box.lo = {b * side, 0, 0, 0};
      box.size = {side, side, side, 1};
      layout.boxes.push_back(box);
      std::vector<double>& of_box = values.emplace_back();
      for (int64_t z = 0; z < side; ++z)
        for (int64_t y = 0; y < side; ++y)
          for (int64_t x = 0; x < side; ++x) of_box.push_back(field(b * side + x, y, z));
    }
    layout.element_count = layout.held_elements();
  }

  FrameReport encode(double bound, Effort effort, bool decodes_alone = false) const {
    ComponentSpec spec;
    spec.bound_abs = bound;
    spec.decodes_alone = decodes_alone;
    std::vector<BoxData> data;
    for (size_t b = 0; b < values.size(); ++b)
      data.push_back(dense_box_data(values[b].data(), layout.boxes[b]));
    EncodeOptions options;
    options.effort = effort;
    options.explain = true;
    FrameReport report;
    const auto frame = encode_frame(DType::f64, layout, {&spec, 1}, data, options, &report);
    EXPECT_TRUE(frame.ok()) << frame.status().message();
    return report;
  }
};

uint64_t bytes_coded_lossless(const FrameReport& report) {
  uint64_t bytes = 0;
  for (size_t place = candidate_codecs; place < candidate_places; ++place)
    bytes += report.selections.at(0).candidates[place].coded_bytes;
  return bytes;
}

double blob(int64_t x, int64_t y, int64_t) {
  const double dx = 0.01 * static_cast<double>(x) - 3, dy = 0.05 * static_cast<double>(y) - 0.4;
  return 1 + std::exp(-(dx * dx + dy * dy));
}

// Each box has to hold its first plane, which takes more than all of it under a bound.
TEST(LosslessRival, IsNotCodedForPlanesThatRepeatWithinSmallBoxes) {
  const Boxes boxes(64, 16, blob);
  for (const Effort effort : {Effort::fast, Effort::balanced}) {
    for (const bool decodes_alone : {false, true}) {
      const FrameReport report = boxes.encode(1e-3, effort, decodes_alone);
      EXPECT_EQ(bytes_coded_lossless(report), 0u) << effort_name(effort) << decodes_alone;
    }
  }
}

// Every value stands in the section many times, at distances that only a sample of blocks shows.
TEST(LosslessRival, IsNotCodedForFieldsThatRepeatFromBoxToBox) {
  const Boxes boxes(64, 16, [](int64_t x, int64_t y, int64_t z) { return blob(x % 128, y, z); });
  EXPECT_EQ(bytes_coded_lossless(boxes.encode(1e-3, Effort::fast)), 0u);
}

TEST(LosslessRival, WinsWherePlanesOfNoiseRepeatUnderATightBound) {
  test::Random random(3);
  std::vector<double> plane(64 * 64);
  for (double& value : plane) value = random.uniform();
  const Boxes box(1, 64,
                  [&](int64_t x, int64_t y, int64_t) { return plane[static_cast<size_t>(y * 64 + x)]; });
  for (const Effort effort : {Effort::fast, Effort::balanced})
    EXPECT_EQ(box.encode(1e-9, effort).components[0].codec, Codec::lossless) << effort_name(effort);
}

TEST(LosslessRival, IsCodedWhereNoiseRepeatsFromBoxToBoxUnderATightBound) {
  test::Random random(3);
  std::vector<double> once(16 * 16 * 16);
  for (double& value : once) value = random.uniform();
  const Boxes boxes(64, 16, [&](int64_t x, int64_t y, int64_t z) {
    return once[static_cast<size_t>((z * 16 + y) * 16 + x % 16)];
  });
  for (const Effort effort : {Effort::fast, Effort::balanced}) {
    const FrameReport report = boxes.encode(1e-9, effort);
    EXPECT_GT(bytes_coded_lossless(report), 0u) << effort_name(effort);
    EXPECT_LT(report.components[0].stored_bytes, 1.1 * 8 * static_cast<double>(once.size()));
  }
}

// Values that say where they are: x + 100 y + 10000 z.
RectRows<const double*> numbered(const std::vector<double>& values, const Extents& size) {
  RectRows<const double*> rect;
  rect.first = values.data();
  rect.size = size;
  rect.stride = {1, 100, 10000, 1000000};
  return rect;
}

TEST(MiddlePart, IsOfWholeLayersFromTheMiddle) {
  std::vector<double> values(2000000);
  std::iota(values.begin(), values.end(), 0.0);
  SectionSource<double> source;
  source.rects.push_back(numbered(values, {4, 3, 10, 1}));
  auto& left_out = source.rects[0].left_out;
  left_out.assign(120, 0);
  left_out[4 * 12 + 5] = left_out[5 * 12 + 11] = left_out[6 * 12] = 1;
  source.held = 117;
  const SectionSource<double> part = middle_part(source, 20);
  ASSERT_EQ(part.rects.size(), 1u);
  EXPECT_EQ(part.rects[0].size, (Extents{4, 3, 2, 1}));
  EXPECT_EQ(part.rects[0].row(0)[1], 40001);
  EXPECT_EQ(part.rects[0].row(5)[3], 50203);
  ASSERT_EQ(part.rects[0].left_out.size(), 24u);
  EXPECT_EQ(part.rects[0].left_out[5] + part.rects[0].left_out[23], 2);
  EXPECT_EQ(part.held, 22u);
}

TEST(MiddlePart, TakesRectanglesOneAfterAnother) {
  std::vector<double> values(2000000);
  SectionSource<double> source;
  for (int64_t width : {7, 2, 3, 5, 9}) source.rects.push_back(numbered(values, {width, 1, 1, 1}));
  source.held = 26;
  const SectionSource<double> part = middle_part(source, 6);
  ASSERT_EQ(part.rects.size(), 2u);
  EXPECT_EQ(part.rects[0].size[0], 3);
  EXPECT_EQ(part.rects[1].size[0], 3);
  EXPECT_EQ(part.rects[1].row(0), values.data() + 1);
  EXPECT_EQ(part.held, 6u);
}

TEST(MiddlePart, OfMoreThanThereIsIsAllOfIt) {
  const std::vector<double> values(200);
  SectionSource<double> source;
  source.rects.push_back(numbered(values, {5, 2, 1, 1}));
  source.held = 10;
  EXPECT_EQ(middle_part(source, 1000).held, 10u);
  EXPECT_TRUE(middle_part(SectionSource<double>(), 5).rects.empty());
}

}  // namespace
}  // namespace neve
