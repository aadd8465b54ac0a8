// SPDX-License-Identifier: BSD-3-Clause
// Hostile bytes are ordinary input: an error that says what is wrong, never a crash, never an allocation that
// the input has not paid for.
#include <gtest/gtest.h>

#include "core/bits/checksum.hpp"
#include "neve/frame.hpp"
#include "tests/support/lossy_codecs.hpp"
#include "tests/support/test_fields.hpp"

namespace neve {
namespace {

// What a tool would do with bytes it was given.
Status read_all(std::span<const std::byte> bytes) {
  const auto frame = Frame::parse(bytes);
  if (!frame.ok()) return frame.status();
  constexpr uint64_t max_elements = uint64_t{1} << 24;
  if (frame->shape().element_count > max_elements) return corrupt("larger than any frame of this test");
  std::vector<std::byte> out(frame->shape().element_count * dtype_bytes(frame->dtype()));
  return frame->decode(out.data(), out.size());
}

// Small frames with every kind of section, mask and codebook in them.
std::vector<std::vector<std::byte>> small_frames() {
  std::vector<std::vector<std::byte>> frames;
  ArrayOptions options;
  auto smooth = test::rough_field<float>({12, 10, 4}, 0.05, 1);
  frames.push_back(*encode_array(DType::f32, std::vector<uint64_t>{4, 10, 12}, smooth.data(), options));
  smooth[7] = std::nanf("");
  smooth[8] = -0.0F;
  smooth[99] = 1e20F;
  frames.push_back(*encode_array(DType::f32, std::vector<uint64_t>{480}, smooth.data(), options));
  options.bound = {BoundMode::lossless, 0};
  frames.push_back(*encode_array(DType::f32, std::vector<uint64_t>{48, 10}, smooth.data(), options));
  const std::vector<double> constant(50, 3.5);
  frames.push_back(*encode_array(DType::f64, std::vector<uint64_t>{50}, constant.data(), options));

  FrameLayout layout;
  layout.components = 2;
  FrameBox box;
  box.size = {8, 8, 8, 1};
  box.covered = {{{0, 0, 0, 0}, {4, 4, 4, 1}}};
  layout.boxes = {box, box};
  layout.element_count = layout.held_elements() + 7;
  const auto field = test::rough_field<double>({8, 8, 16}, 0.05, 2);
  std::vector<uint8_t> keep(1024);
  keep[3] = keep[600] = 1;
  std::vector<BoxData> data(2, dense_box_data(field.data(), box));
  data[1].keep = keep.data();
  std::vector<ComponentSpec> specs(2);
  specs[0].bound_abs = 1e-3;
  specs[1].bound_abs = 1e-7;
  specs[0].drop_covered = true;
  specs[0].tuning.arrangement = specs[1].tuning.arrangement = Arrangement::linear;
  frames.push_back(*encode_frame(DType::f64, layout, specs, data));
  layout.boxes[1].lo[0] = 8;
  for (const auto& [arrangement, unit_cells] :
       {std::pair{Arrangement::linear, 8}, {Arrangement::cluster, 8}, {Arrangement::in_place, 0}}) {
    specs[0].tuning.arrangement = specs[1].tuning.arrangement = arrangement;
    specs[0].tuning.unit_cells = specs[1].tuning.unit_cells = unit_cells;
    frames.push_back(*encode_frame(DType::f64, layout, specs, data));
  }
  for (const Codec codec : test::lossy_codecs) {
    if (codec == Codec::dual_quant) continue;  // those above
    specs[0].codec = specs[1].codec = codec;
    frames.push_back(*encode_frame(DType::f64, layout, specs, data));
    options = {};
    options.codec = codec;
    frames.push_back(*encode_array(DType::f32, std::vector<uint64_t>{4, 10, 12}, smooth.data(), options));
  }
  return frames;
}

TEST(CorruptFrame, EveryTruncationIsRefused) {
  for (const auto& frame : small_frames()) {
    ASSERT_TRUE(read_all(frame).ok());
    for (size_t n = 0; n < frame.size(); ++n) {
      const Status status = read_all(std::span(frame).first(n));
      ASSERT_EQ(status.code(), Code::corrupt)
          << n << " bytes of " << frame.size() << ": " << status.message();
      ASSERT_FALSE(status.message().empty());
    }
  }
}

// Under a sanitizer, eight times slower, one bit of each byte: all of them are in the build without.
TEST(CorruptFrame, EveryFlippedBitIsRefused) {
#if defined(__SANITIZE_ADDRESS__)
  constexpr size_t bits_a_byte = 1;
#else
  constexpr size_t bits_a_byte = 8;
#endif
  for (auto frame : small_frames()) {
    for (size_t i = 0; i < frame.size(); ++i) {
      for (size_t b = 0; b < bits_a_byte; ++b) {
        const auto bit = static_cast<int>((i + b) % 8);
        frame[i] ^= std::byte{1} << bit;
        ASSERT_EQ(read_all(frame).code(), Code::corrupt) << "byte " << i << " bit " << bit;
        frame[i] ^= std::byte{1} << bit;
      }
    }
  }
}

// The same with checksums mended, as somebody who means harm would: anything but a crash or a wrong size.
TEST(CorruptFrame, FlippedBitsUnderMatchingChecksumsDoNoHarm) {
  for (const auto& original : small_frames()) {
    const auto header_bytes = Frame::parse(original)->header_bytes();
    for (size_t i = 0; i < header_bytes - checksum_bytes; ++i) {
      for (int bit = 0; bit < 8; ++bit) {
        auto frame = original;
        frame[i] ^= std::byte{1} << bit;
        const uint64_t mended = checksum(std::span(frame).first(header_bytes - checksum_bytes));
        std::memcpy(frame.data() + header_bytes - checksum_bytes, &mended, sizeof mended);
        const Status status = read_all(frame);
        ASSERT_TRUE(status.ok() || status.code() == Code::corrupt) << status.message();
      }
    }
  }
}

// Boxes moved onto each other, apart, and into each other under matching checksums: the regions that follow
// from them hold every cell once whatever the header says.
TEST(CorruptFrame, ArrangedFramesSurviveMovedBoxes) {
  test::Random random(3);
  for (int trial = 0; trial < 60; ++trial) {
    FrameLayout layout;
    for (int b = 0; b < 20; ++b) {
      FrameBox box;
      const int64_t far = trial % 3 == 0 ? int64_t{1} << 40 : 12;
      box.lo = {random.below(far), random.below(far), -random.below(far), 0};
      box.size = {1 + random.below(6), 1 + random.below(6), 1 + random.below(6), 1};
      layout.boxes.push_back(box);
    }
    layout.element_count = layout.held_elements();
    const auto field = test::rough_field<float>({216}, 0.1, static_cast<uint64_t>(trial));
    std::vector<BoxData> data;
    for (const FrameBox& box : layout.boxes) data.push_back(dense_box_data(field.data(), box));
    std::vector<ComponentSpec> specs(1);
    specs[0].bound_abs = 1e-2;
    specs[0].codec = Codec::dual_quant;  // whose values are the same however cells lie
    const auto straight = *encode_frame(DType::f32, layout, specs, data);
    specs[0].tuning.arrangement = Arrangement::linear;
    const auto linear = *encode_frame(DType::f32, layout, specs, data);
    std::vector<std::byte> out(4 * layout.element_count);
    std::vector<std::byte> expected(out.size());
    ASSERT_TRUE(Frame::parse(straight)->decode(out.data(), out.size()).ok());
    ASSERT_TRUE(Frame::parse(linear)->decode(expected.data(), expected.size()).ok());
    ASSERT_EQ(out, expected);
  }
}

TEST(CorruptFrame, MessagesNameWhatWasFoundAndAllowed) {
  auto frame = small_frames()[0];
  EXPECT_NE(read_all(std::span(frame).first(10)).message().find("10 bytes"), std::string::npos);
  auto other = frame;
  other[0] = std::byte{'X'};
  EXPECT_NE(read_all(other).message().find("NEVE"), std::string::npos);
  other = frame;
  other[4] = std::byte{9};
  EXPECT_NE(read_all(other).message().find("version 9"), std::string::npos) << read_all(other).message();
  other = frame;
  other.back() ^= std::byte{1};
  EXPECT_NE(read_all(other).message().find("checksum"), std::string::npos);
}

}  // namespace
}  // namespace neve
