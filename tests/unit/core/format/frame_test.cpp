// SPDX-License-Identifier: BSD-3-Clause
// The promise of a frame: bounds hold, special values come back bit for bit, parts can be read alone, and
// neither threads nor instruction sets change a byte.
#include <gtest/gtest.h>

#include <cstring>

#include "core/codecs/reconstruct.hpp"
#include "core/sections/tiling.hpp"
#include "neve/frame.hpp"
#include "tests/support/lossy_codecs.hpp"
#include "tests/support/test_fields.hpp"

namespace neve {
namespace {

using test::Random;

template <class T>
constexpr DType dtype_of = sizeof(T) == 4 ? DType::f32 : DType::f64;

template <class T>
bool same_bits(T a, T b) {
  return std::memcmp(&a, &b, sizeof(T)) == 0;
}

// Decodes and checks every value; returns the frame's bytes.
template <class T>
std::vector<std::byte> check_array(const std::vector<uint64_t>& shape, const std::vector<T>& values,
                                   const ArrayOptions& options, const std::string& what) {
  SCOPED_TRACE(what);
  const auto frame = encode_array(dtype_of<T>, shape, values.data(), options);
  EXPECT_TRUE(frame.ok()) << frame.status().message();
  if (!frame.ok()) return {};
  const auto parsed = Frame::parse(*frame);
  EXPECT_TRUE(parsed.ok()) << parsed.status().message();
  if (!parsed.ok()) return {};
  EXPECT_EQ(parsed->shape().array_shape, shape);
  std::vector<T> back(values.size());
  const Status status = parsed->decode(reinterpret_cast<std::byte*>(back.data()), back.size() * sizeof(T));
  EXPECT_TRUE(status.ok()) << status.message();
  const ComponentInfo& info = parsed->components()[0];
  double worst = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    const bool is_fill = info.fill && same_bits(values[i], static_cast<T>(*info.fill));
    const bool is_special =
        !std::isfinite(values[i]) || is_fill || (values[i] == 0 && std::signbit(values[i]));
    if (is_special || info.bound_abs == 0) {
      EXPECT_TRUE(same_bits(values[i], back[i]))
          << "value " << i << ": " << values[i] << " came back as " << back[i];
      if (!same_bits(values[i], back[i])) return {};
    } else {
      const auto error = static_cast<double>(
          std::abs(static_cast<long double>(values[i]) - static_cast<long double>(back[i])));
      worst = std::max(worst, error);
      EXPECT_LE(error, info.bound_abs) << "value " << i << ": " << values[i] << " came back as " << back[i];
      if (!(error <= info.bound_abs)) return {};
    }
  }
  EXPECT_LE(worst, info.max_abs_error * (1 + 1e-6)) << "the error the frame states is too small";
  return *frame;
}

template <class T>
void check_every_codec(const std::vector<uint64_t>& shape, const std::vector<T>& values, ArrayOptions options,
                       const std::string& what) {
  for (const Codec codec : test::lossy_codecs) {
    options.codec = codec;
    check_array<T>(shape, values, options, what + " " + std::string(codec_name(codec)));
  }
}

template <class T>
void bounds_hold_for_shapes() {
  const std::vector<std::vector<uint64_t>> shapes{{},
                                                  {0},
                                                  {1},
                                                  {5},
                                                  {1000},
                                                  {3, 0},
                                                  {1, 1, 1},
                                                  {17, 1, 9},
                                                  {33, 31},
                                                  {1, 64, 64},
                                                  {9, 8, 7},
                                                  {40, 33, 29},
                                                  {5, 6, 7, 8},
                                                  {2, 3, 4, 5, 6},
                                                  {2, 1, 3, 2, 1, 2, 3}};
  for (const auto& shape : shapes) {
    int64_t cells = 1;
    for (const uint64_t n : shape) cells *= static_cast<int64_t>(n);
    const auto field = test::rough_field<T>({cells == 0 ? 1 : cells}, 0.01, 1);
    const std::vector<T> values(field.begin(), field.begin() + cells);
    for (const char* bound : {"rel=1e-1", "rel=1e-3", "abs=1e-5", "lossless"}) {
      ArrayOptions options;
      options.bound = *parse_bound(bound);
      check_every_codec<T>(shape, values, options,
                           std::string(bound) + " " + std::to_string(cells) + " cells");
    }
  }
}

TEST(Frame, BoundsHoldForEveryShape) {
  bounds_hold_for_shapes<float>();
  bounds_hold_for_shapes<double>();
}

template <class T>
void bounds_hold_among_specials() {
  for (const double share : {0.001, 0.05, 0.5, 1.0}) {
    for (const char* bound : {"rel=1e-2", "abs=1e-3", "abs=1e-12", "abs=1e30", "lossless"}) {
      auto values = test::rough_field<T>({24, 20, 18}, 0.05, 4);
      Random random(8);
      for (T& v : values) {
        if (random.uniform() >= share) continue;
        const auto& specials = test::special_values<T>();
        v = specials[static_cast<size_t>(random.below(static_cast<int64_t>(specials.size())))];
      }
      ArrayOptions options;
      options.bound = *parse_bound(bound);
      check_every_codec<T>({18, 20, 24}, values, options,
                           std::string(bound) + " share " + std::to_string(share));
      options.fill = -999;
      check_every_codec<T>({18, 20, 24}, values, options,
                           std::string(bound) + " with fill, share " + std::to_string(share));
    }
  }
}

TEST(Frame, BoundsHoldAmongSpecialValues) {
  bounds_hold_among_specials<float>();
  bounds_hold_among_specials<double>();
}

template <class T>
void every_special_value_alone() {
  for (const T special : test::special_values<T>()) {
    ArrayOptions options;
    check_every_codec<T>({100}, std::vector<T>(100, special), options, "constant " + std::to_string(special));
    auto values = test::rough_field<T>({100}, 0.01, 2);
    values[57] = special;
    check_every_codec<T>({100}, values, options, "one of " + std::to_string(special));
  }
}

TEST(Frame, EverySpecialValueAlone) {
  every_special_value_alone<float>();
  every_special_value_alone<double>();
}

template <class T>
void hard_ranges() {
  Random random(12);
  std::vector<T> huge(5000), denormal(5000), offset(5000), large(5000);
  for (size_t i = 0; i < huge.size(); ++i) {
    huge[i] = static_cast<T>((random.uniform() - 0.5) * std::pow(10.0, random.uniform() * 60 - 30));
    denormal[i] = static_cast<T>((random.uniform() - 0.5) * 100) * std::numeric_limits<T>::denorm_min();
    offset[i] = static_cast<T>(288 + random.uniform());  // a range of few units in the last place for f32
    large[i] = static_cast<T>((random.uniform() - 0.5) * 2) * std::numeric_limits<T>::max();
  }
  for (const char* bound : {"rel=1e-1", "rel=1e-3", "rel=1e-6", "rel=1e-9"}) {
    ArrayOptions options;
    options.bound = *parse_bound(bound);
    check_every_codec<T>({5000}, huge, options, std::string("huge range ") + bound);
    check_every_codec<T>({50, 100}, denormal, options, std::string("denormals ") + bound);
    check_every_codec<T>({50, 100}, offset, options, std::string("offset ") + bound);
    check_every_codec<T>({50, 100}, large, options, std::string("near the largest ") + bound);
  }
}

TEST(Frame, BoundsHoldForHardRanges) {
  hard_ranges<float>();
  hard_ranges<double>();
}

TEST(Frame, AnOrdinaryExtremeIsNoFill) {
  auto values = test::rough_field<float>({50, 40}, 0.01, 6);
  for (float& v : values) v *= 500;
  values[7] = 999;
  const auto frame = check_array<float>({40, 50}, values, ArrayOptions{}, "999 near the data");
  EXPECT_FALSE(Frame::parse(frame)->components()[0].fill.has_value());
}

class FrameOfCodec : public testing::TestWithParam<Codec> {};

INSTANTIATE_TEST_SUITE_P(Lossy, FrameOfCodec, testing::ValuesIn(test::lossy_codecs),
                         [](const auto& codec) { return std::string(codec_name(codec.param)); });

TEST_P(FrameOfCodec, SameBytesForEveryTargetAndThreadCount) {
  const std::string usual = simd_target();
  const auto values = test::rough_field<float>({200, 150, 120}, 0.02, 3);
  ArrayOptions options;
  options.codec = GetParam();
  options.encode.threads = 1;
  const auto expected = check_array<float>({120, 150, 200}, values, options, "one thread");
  for (const std::string& target : simd_targets()) {
    ASSERT_TRUE(set_simd_target(target).ok());
    for (const int threads : {1, 3}) {
      options.encode.threads = threads;
      EXPECT_EQ(expected, check_array<float>({120, 150, 200}, values, options, target))
          << target << " " << threads;
    }
  }
  ASSERT_TRUE(set_simd_target(usual).ok());
  EXPECT_FALSE(set_simd_target("no such thing").ok());
}

TEST_P(FrameOfCodec, FillValuesAreFoundAndDoNotWidenTheRange) {
  for (const double fill : {1e20, -999.0, 9.969209968386869e36, -32768.0}) {
    auto values = test::rough_field<float>({50, 40}, 0.01, 6);
    for (size_t i = 300; i < 900; ++i) values[i] = static_cast<float>(fill);
    ArrayOptions options;
    options.codec = GetParam();
    const auto frame = check_array<float>({40, 50}, values, options, std::to_string(fill));
    const auto parsed = Frame::parse(frame);
    ASSERT_TRUE(parsed.ok());
    ASSERT_TRUE(parsed->components()[0].fill.has_value()) << fill;
    EXPECT_EQ(static_cast<float>(*parsed->components()[0].fill), static_cast<float>(fill));
    EXPECT_LT(parsed->components()[0].bound_abs, 1e-2);
  }
}

// Whoever writes netCDF's fill value as decimals into f64 data, or rounds it to f32 first, means the same.
TEST(Frame, EverySpellingOfNetcdfsFillValueIsFound) {
  for (const double fill :
       {9.96921e36, 9.969209968386869e36, -9.96921e36, static_cast<double>(static_cast<float>(9.96921e36))}) {
    auto values = test::rough_field<double>({50, 40}, 0.01, 6);
    for (size_t i = 300; i < 900; ++i) values[i] = fill;
    const auto frame = check_array<double>({40, 50}, values, {}, std::to_string(fill));
    const auto parsed = Frame::parse(frame);
    ASSERT_TRUE(parsed.ok());
    EXPECT_EQ(parsed->components()[0].fill, fill);
    EXPECT_LT(parsed->components()[0].bound_abs, 1e-2);
  }
}

// A frame of several boxes, components and covered rectangles.
struct BoxedCase {
  FrameLayout layout;
  std::vector<std::vector<double>> values;  // by box, components one after another
  std::vector<std::vector<uint8_t>> keep;
  std::vector<ComponentSpec> specs;
  std::vector<BoxData> data;
};

BoxedCase make_boxed() {
  BoxedCase c;
  c.layout.ndim = 3;
  c.layout.components = 3;
  Random random(21);
  for (int b = 0; b < 12; ++b) {
    FrameBox box;
    box.lo = {b * 40 - 7, -b, 3, 0};
    box.size = {8 + random.below(30), 1 + random.below(24), 8 + random.below(30), 1};
    if (b % 3 != 0) {
      box.covered.push_back({{0, 0, 0, 0}, {4, 1, 8, 1}});
      box.covered.push_back({{5, 0, 1, 0}, {3, box.size[1], 2, 1}});
    }
    c.layout.boxes.push_back(box);
    std::vector<double> values;
    for (int k = 0; k < 3; ++k) {
      const auto part = test::rough_field<double>({box.size[0], box.size[1], box.size[2]}, 0.01 * k,
                                                  static_cast<uint64_t>(b * 3 + k));
      values.insert(values.end(), part.begin(), part.end());
    }
    values[values.size() / 2] = std::nan("");
    c.values.push_back(values);
    std::vector<uint8_t> keep(values.size());
    for (uint8_t& k : keep) k = random.below(10) == 0;
    c.keep.push_back(keep);
  }
  for (size_t b = 0; b < c.values.size(); ++b) {
    BoxData data = dense_box_data(c.values[b].data(), c.layout.boxes[b]);
    data.keep = c.keep[b].data();
    c.data.push_back(data);
  }
  c.specs.resize(3);
  for (size_t k = 0; k < 3; ++k) c.specs[k].bound_abs = 1e-3 * static_cast<double>(k);
  c.specs[1].drop_covered = c.specs[2].drop_covered = true;
  c.specs[0].drop_covered = true;
  c.layout.element_count = c.layout.held_elements() + 1000;
  return c;
}

TEST_P(FrameOfCodec, BoxesComponentsAndLeftOutCells) {
  BoxedCase c = make_boxed();
  for (ComponentSpec& spec : c.specs) spec.codec = GetParam();
  FrameReport report;
  const auto frame = encode_frame(DType::f64, c.layout, c.specs, c.data, {}, &report);
  ASSERT_TRUE(frame.ok()) << frame.status().message();
  const auto parsed = Frame::parse(*frame);
  ASSERT_TRUE(parsed.ok()) << parsed.status().message();
  std::vector<double> all(c.layout.element_count, -1);
  ASSERT_TRUE(parsed->decode(reinterpret_cast<std::byte*>(all.data()), all.size() * 8, 2).ok());
  size_t element = 0;
  uint64_t left_out_cells = 0;
  for (size_t b = 0; b < c.values.size(); ++b) {
    const FrameBox& box = c.layout.boxes[b];
    EXPECT_EQ(parsed->box(b).lo, box.lo);
    for (int k = 0; k < 3; ++k) {
      const auto cells = static_cast<size_t>(box.cells());
      std::vector<double> alone(cells);
      ASSERT_TRUE(
          parsed->decode_box(static_cast<int>(b), k, reinterpret_cast<std::byte*>(alone.data()), cells * 8)
              .ok());
      const auto left_out = parsed->left_out(static_cast<int>(b), k);
      ASSERT_TRUE(left_out.ok());
      EXPECT_EQ(left_out->empty(), box.covered.empty());
      for (size_t i = 0; i < cells; ++i, ++element) {
        ASSERT_TRUE(same_bits(all[element], alone[i]));
        const double original = c.values[b][static_cast<size_t>(k) * cells + i];
        if (!left_out->empty() && (*left_out)[i] != 0) {
          ASSERT_TRUE(std::isfinite(alone[i]));
          ASSERT_EQ(c.keep[b][static_cast<size_t>(k) * cells + i], 0);
          ++left_out_cells;
        } else if (std::isnan(original)) {
          ASSERT_TRUE(same_bits(alone[i], original));
        } else {
          ASSERT_LE(std::abs(alone[i] - original), c.specs[static_cast<size_t>(k)].bound_abs);
        }
      }
    }
  }
  for (; element < all.size(); ++element) ASSERT_EQ(all[element], 0);
  EXPECT_GT(left_out_cells, 0U);
  EXPECT_EQ(left_out_cells, report.components[0].left_out_cells + report.components[1].left_out_cells +
                                report.components[2].left_out_cells);
}

TEST(Frame, ReadsABoxFromASmallPartOfTheBytes) {
  // Boxes of 64^3: each its own tile. Damage to every other section must not reach a box read alone.
  FrameLayout layout;
  layout.components = 2;
  std::vector<std::vector<double>> values;
  for (int b = 0; b < 3; ++b) {
    FrameBox box;
    box.size = {64, 64, 64, 1};
    layout.boxes.push_back(box);
    auto v = test::rough_field<double>({64, 64, 64}, 0.1, static_cast<uint64_t>(b));
    v.insert(v.end(), v.begin(), v.begin() + 64 * 64 * 64);
    values.push_back(v);
  }
  layout.element_count = layout.held_elements();
  std::vector<BoxData> data;
  for (size_t b = 0; b < 3; ++b) data.push_back(dense_box_data(values[b].data(), layout.boxes[b]));
  std::vector<ComponentSpec> specs(2);
  specs[0].bound_abs = specs[1].bound_abs = 1e-3;
  specs[0].tuning.arrangement = specs[1].tuning.arrangement = Arrangement::linear;
  auto frame = encode_frame(DType::f64, layout, specs, data);
  ASSERT_TRUE(frame.ok());
  const auto sections = Frame::parse(*frame)->sections();
  ASSERT_EQ(sections.size(), 6U);
  size_t at = Frame::parse(*frame)->header_bytes();
  for (size_t s = 0; s < sections.size(); ++s) {
    if (s != 4) (*frame)[at + sections[s].stored_bytes / 2] ^= std::byte{1};
    at += sections[s].stored_bytes;
  }
  const auto parsed = Frame::parse(*frame);
  ASSERT_TRUE(parsed.ok());
  std::vector<double> out(64 * 64 * 64);
  EXPECT_TRUE(parsed->decode_box(1, 1, reinterpret_cast<std::byte*>(out.data()), out.size() * 8).ok());
  const Status damaged = parsed->decode_box(0, 1, reinterpret_cast<std::byte*>(out.data()), out.size() * 8);
  EXPECT_EQ(damaged.code(), Code::corrupt);
  EXPECT_NE(damaged.message().find("section 3"), std::string::npos) << damaged.message();
}

TEST_P(FrameOfCodec, SplitBoxesCoverTheWholeBox) {
  FrameBox box;
  box.size = {13, 11, 9, 1};
  const auto one = test::rough_field<float>({13, 11, 9}, 0.02, 1);
  std::vector<float> values(one);
  values.insert(values.end(), one.begin(), one.end());
  const uint64_t total = values.size();
  for (const uint64_t cut : {1UL, 12UL, 13UL, 143UL, 500UL, 1287UL, 1300UL}) {
    std::vector<float> whole(total);
    for (uint64_t begin = 0; begin < total; begin += cut) {
      FrameLayout layout;
      layout.components = 2;
      layout.boxes = {box};
      layout.is_split = true;
      layout.split_begin = begin;
      layout.split_count = std::min(cut, total - begin);
      layout.element_count = cut;
      std::vector<ComponentSpec> specs(2);
      specs[0].codec = specs[1].codec = GetParam();
      specs[0].bound_abs = specs[1].bound_abs = 1e-3;
      const std::vector<BoxData> data{dense_box_data(values.data(), box)};
      const auto frame = encode_frame(DType::f32, layout, specs, data);
      ASSERT_TRUE(frame.ok()) << frame.status().message();
      const auto parsed = Frame::parse(*frame);
      ASSERT_TRUE(parsed.ok()) << parsed.status().message();
      std::vector<float> part(cut);
      ASSERT_TRUE(parsed->decode(reinterpret_cast<std::byte*>(part.data()), cut * 4).ok());
      std::copy(part.begin(), part.begin() + static_cast<ptrdiff_t>(layout.split_count),
                whole.begin() + static_cast<ptrdiff_t>(begin));
    }
    for (size_t i = 0; i < total; ++i)
      ASSERT_LE(std::abs(whole[i] - values[i]), 1e-3F) << "cut " << cut << " at " << i;
  }
}

TEST(Frame, ReconstructionFollowsFromTheValueAlone) {
  const BoxedCase c = make_boxed();
  const auto frame = encode_frame(DType::f64, c.layout, c.specs, c.data);
  const auto parsed = Frame::parse(*frame);
  for (int b = 0; b < 12; ++b) {
    const auto cells = static_cast<size_t>(c.layout.boxes[static_cast<size_t>(b)].cells());
    std::vector<double> decoded(cells), expected(cells);
    ASSERT_TRUE(parsed->decode_box(b, 2, reinterpret_cast<std::byte*>(decoded.data()), cells * 8).ok());
    reconstruct_values(c.values[static_cast<size_t>(b)].data() + 2 * cells, expected.data(),
                       static_cast<int64_t>(cells), c.specs[2]);
    const auto left_out = parsed->left_out(b, 2);
    for (size_t i = 0; i < cells; ++i) {
      if (!left_out->empty() && (*left_out)[i] != 0) continue;
      ASSERT_TRUE(same_bits(decoded[i], expected[i]));
    }
  }
}

TEST_P(FrameOfCodec, StridedDataEncodesLikeDense) {
  constexpr int64_t ghost = 2;
  FrameBox box;
  box.size = {10, 9, 8, 1};
  const auto dense = test::rough_field<float>({10, 9, 8}, 0.01, 7);
  constexpr int64_t nx = 10 + 2 * ghost, ny = 9 + 2 * ghost, nz = 8 + 2 * ghost;
  std::vector<float> grown(nx * ny * nz, 1e30F);
  for (int64_t z = 0; z < 8; ++z) {
    for (int64_t y = 0; y < 9; ++y) {
      for (int64_t x = 0; x < 10; ++x) {
        grown[static_cast<size_t>(x + ghost + nx * (y + ghost + ny * (z + ghost)))] =
            dense[static_cast<size_t>(x + 10 * (y + 9 * z))];
      }
    }
  }
  FrameLayout layout;
  layout.boxes = {box};
  layout.element_count = 720;
  std::vector<ComponentSpec> specs(1);
  specs[0].codec = GetParam();
  specs[0].bound_abs = 1e-3;
  const BoxData strided{
      grown.data() + ghost + nx * (ghost + ny * ghost), nx * ny * nz, {1, nx, nx * ny, 0}, nullptr};
  const auto a =
      encode_frame(DType::f32, layout, specs, std::vector<BoxData>{dense_box_data(dense.data(), box)});
  const auto b = encode_frame(DType::f32, layout, specs, std::vector<BoxData>{strided});
  ASSERT_TRUE(a.ok());
  ASSERT_TRUE(b.ok());
  EXPECT_EQ(*a, *b);
}

TEST(Frame, RefusesWhatItCannotDo) {
  FrameLayout layout;
  std::vector<ComponentSpec> specs(1);
  std::vector<BoxData> none;
  EXPECT_EQ(encode_frame(DType::f32, layout, specs, none).status().code(), Code::usage);
  FrameBox box;
  box.size = {4, 4, 4, 1};
  layout.boxes = {box};
  layout.element_count = 10;
  const std::vector<float> values(64);
  const std::vector<BoxData> data{dense_box_data(values.data(), box)};
  const auto small = encode_frame(DType::f32, layout, specs, data);
  EXPECT_EQ(small.status().code(), Code::usage);
  EXPECT_NE(small.status().message().find("10"), std::string::npos);
  layout.element_count = 64;
  specs[0].bound_abs = std::nan("");
  EXPECT_EQ(encode_frame(DType::f32, layout, specs, data).status().code(), Code::usage);
  ArrayOptions options;
  options.bound.value = -1;
  const std::vector<uint64_t> shape{64};
  EXPECT_EQ(encode_array(DType::f32, shape, values.data(), options).status().code(), Code::usage);
  const std::vector<uint64_t> many(33, 1);
  EXPECT_EQ(encode_array(DType::f32, many, values.data(), {}).status().code(), Code::usage);
}

TEST(Tiling, RangesAreCutWithoutGapOrOverlap) {
  const Extents size{5, 4, 3, 2};
  for (int64_t begin = 0; begin < 120; ++begin) {
    for (int64_t end = begin; end <= 120; end += 7) {
      int64_t at = begin;
      for (const Rect& r : rects_of_range(size, begin, end)) {
        ASSERT_EQ(r.lo[0] + 5 * (r.lo[1] + 4 * (r.lo[2] + 3 * r.lo[3])), at);
        at += r.cells();
      }
      ASSERT_EQ(at, end);
    }
  }
}

TEST(Bounds, TextIsReadBackAndRefusalsNameTheValue) {
  for (const char* text : {"rel=0.001", "abs=1e-06", "lossless"}) {
    const auto bound = parse_bound(text);
    ASSERT_TRUE(bound.ok());
    EXPECT_EQ(*parse_bound(to_string(*bound)), *bound);
  }
  for (const char* text :
       {"rel=0", "rel=-1", "abs=nan", "abs=inf", "rel=", "rel", "psnr=60", "rel=1e-3x", ""}) {
    const auto bound = parse_bound(text);
    ASSERT_FALSE(bound.ok()) << text;
    EXPECT_EQ(bound.status().code(), Code::usage);
    EXPECT_NE(bound.status().message().find(text), std::string::npos) << bound.status().message();
  }
  EXPECT_NE(parse_bound("lossless=1").status().message().find("takes no value"), std::string::npos);
  for (const char* number : {"1e-3", "0.5", "-2"}) {
    const Status bare = parse_bound(number).status();
    EXPECT_EQ(bare.code(), Code::usage);
    for (const std::string like : {"rel=", "abs="}) {
      EXPECT_NE(bare.message().find(like + number), std::string::npos) << bare.message();
    }
  }
}

}  // namespace
}  // namespace neve
