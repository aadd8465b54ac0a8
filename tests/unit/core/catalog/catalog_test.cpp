// SPDX-License-Identifier: BSD-3-Clause
// The rows of core/catalog against what codecs do.
#include "core/catalog/codecs.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "core/catalog/lossless_methods.hpp"
#include "neve/frame.hpp"

namespace neve {
namespace {

std::vector<float> waves(size_t count) {
  std::vector<float> values(count);
  for (size_t i = 0; i < count; ++i) values[i] = static_cast<float>(std::sin(0.05 * static_cast<double>(i)));
  return values;
}

// What one codec makes of smooth values; its sections are its own, or those it gives way to.
FrameReport encoded_by(Codec codec, std::vector<std::byte>& frame) {
  const std::vector<float> values = waves(32 * 32 * 32);
  ArrayOptions options;
  options.codec = codec;
  options.bound = traits_of(codec).keeps_bits ? Bound{BoundMode::lossless, 0} : Bound{BoundMode::abs, 1e-3};
  FrameReport report;
  auto made = encode_array(DType::f32, std::vector<uint64_t>{32, 32, 32}, values.data(), options, &report);
  EXPECT_TRUE(made.ok()) << made.status().message();
  if (made.ok()) frame = *made;
  return report;
}

TEST(Catalog, NumbersAreThoseOfTheRows) {
  for (int number = 0; number < codecs; ++number) {
    const auto codec = static_cast<Codec>(number);
    EXPECT_EQ(traits_of(codec).codec, codec);
    EXPECT_EQ(codec_name(codec), traits_of(codec).name);
  }
  EXPECT_FALSE(is_codec(static_cast<Codec>(codecs)));
  EXPECT_EQ(codec_name(static_cast<Codec>(codecs)), "unknown");
  EXPECT_EQ(codec_name(static_cast<Codec>(255)), "unknown");
}

TEST(Catalog, NumbersOfLosslessMethodsAreThoseOfTheRows) {
  for (int number = 0; number < lossless_methods; ++number) {
    const auto method = static_cast<LosslessMethod>(number);
    EXPECT_EQ(traits_of(method).method, method);
    EXPECT_EQ(lossless_method_name(method), traits_of(method).name);
    EXPECT_EQ(traits_of(method).typical_speed > 0, method != LosslessMethod::automatic);
  }
  EXPECT_EQ(lossless_method_name(static_cast<LosslessMethod>(lossless_methods)), "unknown");
  EXPECT_EQ(lossless_method_name(static_cast<LosslessMethod>(255)), "unknown");
}

TEST(Catalog, NamesAreAskedForOrRefused) {
  for (const CodecTraits& row : codec_rows) {
    const Result<Codec> parsed = parse_codec(row.name);
    EXPECT_EQ(parsed.ok(), row.is_asked_for) << row.name;
    if (parsed.ok()) {
      EXPECT_EQ(*parsed, row.codec);
    }
  }
  const Result<Codec> unknown = parse_codec("unknown");
  ASSERT_FALSE(unknown.ok());
  for (const CodecTraits& row : codec_rows) {
    EXPECT_EQ(unknown.status().message().find(row.name) != std::string::npos, row.is_asked_for) << row.name;
  }
}

TEST(Catalog, EveryCodecThatIsAskedForCodesAndKeepsWhatItsRowSays) {
  for (const CodecTraits& row : codec_rows) {
    if (!row.is_asked_for || row.codec == Codec::automatic) continue;
    std::vector<std::byte> frame;
    const FrameReport report = encoded_by(row.codec, frame);
    ASSERT_FALSE(frame.empty());
    EXPECT_EQ(report.components.front().codec, row.codec) << row.name;
    if (row.keeps_bits) {
      EXPECT_EQ(report.components.front().max_abs_error, 0) << row.name;
    }
    EXPECT_EQ(keeps_integers(row.codec), row.keeps_bits);
    const std::vector<int16_t> whole(1000, 7);
    ArrayOptions options;
    options.codec = row.codec;
    options.bound = {BoundMode::lossless, 0};
    EXPECT_EQ(encode_array(DType::i16, std::vector<uint64_t>{1000}, whole.data(), options).ok(),
              row.keeps_bits)
        << row.name;
  }
}

// Whatever the bound and the type: nothing else stands in for it.
TEST(Catalog, ACodecThatKeepsBitsIsTheOneThatIsCalled) {
  const std::vector<float> values = waves(4096);
  std::vector<int16_t> whole(4096);
  for (size_t i = 0; i < whole.size(); ++i) whole[i] = static_cast<int16_t>(i * i);
  for (const CodecTraits& row : codec_rows) {
    if (!row.is_asked_for || !row.keeps_bits) continue;
    ArrayOptions options;
    options.codec = row.codec;
    for (const Bound bound : {Bound{BoundMode::lossless, 0}, Bound{BoundMode::abs, 1e-2}}) {
      options.bound = bound;
      FrameReport report;
      const auto made =
          encode_array(DType::f32, std::vector<uint64_t>{4096}, values.data(), options, &report);
      ASSERT_TRUE(made.ok()) << made.status().message();
      EXPECT_EQ(report.components.front().codec, row.codec) << row.name;
      std::vector<float> back(values.size());
      const Result<Frame> frame = Frame::parse(*made);
      ASSERT_TRUE(frame.ok());
      auto* const out = reinterpret_cast<std::byte*>(back.data());
      ASSERT_TRUE(frame->decode(out, back.size() * sizeof(float)).ok());
      EXPECT_EQ(std::memcmp(back.data(), values.data(), back.size() * sizeof(float)), 0) << row.name;
    }
    options.bound = {BoundMode::lossless, 0};
    FrameReport report;
    const auto made = encode_array(DType::i16, std::vector<uint64_t>{4096}, whole.data(), options, &report);
    ASSERT_TRUE(made.ok()) << made.status().message();
    EXPECT_EQ(report.components.front().codec, row.codec) << row.name;
  }
}

TEST(Catalog, AReportHasTheSectionsOfItsFrame) {
  for (const Codec codec : {Codec::automatic, Codec::dual_quant, Codec::interpolation, Codec::lossless}) {
    std::vector<std::byte> bytes;
    const FrameReport report = encoded_by(codec, bytes);
    const Result<FrameDescription> frame = describe_frame(bytes);
    ASSERT_TRUE(frame.ok());
    ASSERT_EQ(report.sections.size(), frame->sections.size());
    for (size_t s = 0; s < report.sections.size(); ++s) {
      const SectionInfo &made = report.sections[s], &read = frame->sections[s];
      EXPECT_EQ(made.component, read.component);
      EXPECT_EQ(made.cells, read.cells);
      EXPECT_EQ(made.stored_bytes, read.stored_bytes);
      EXPECT_EQ(made.codec, read.codec);
      EXPECT_EQ(made.arrangement, read.arrangement);
      EXPECT_EQ(made.unit_cells, read.unit_cells);
    }
    EXPECT_EQ(report.components.front().bound_abs, frame->components.front().bound_abs);
  }
}

}  // namespace
}  // namespace neve
