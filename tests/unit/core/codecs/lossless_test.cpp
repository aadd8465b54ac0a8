// SPDX-License-Identifier: BSD-3-Clause
// Codec lossless: every bit comes back, by every method, whatever the values are; and the method that is
// chosen is one that suits them.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <numeric>
#include <string>
#include <vector>

#include "core/bits/ordered_words.hpp"
#include "core/stages/lossless/byte_coder.hpp"
#include "core/stages/lossless/byte_planes.hpp"
#include "core/stages/lossless/value_multiples.hpp"
#include "core/stages/lossless/word_repeats.hpp"
#include "neve/frame.hpp"
#include "tests/support/test_fields.hpp"

namespace neve {
namespace {

template <class T>
constexpr DType dtype_of = sizeof(T) == 4 ? DType::f32 : DType::f64;

ArrayOptions lossless_options(LosslessMethod method = LosslessMethod::automatic,
                              Effort effort = Effort::balanced) {
  ArrayOptions options;
  options.bound = {BoundMode::lossless, 0};
  options.codec = Codec::lossless;
  options.tuning.method = method;
  options.encode.effort = effort;
  return options;
}

struct Outcome {
  std::vector<std::byte> frame;
  ComponentReport report;
};

// Encodes and decodes; fails unless every bit is back.
template <class T>
Outcome round_trip(const std::vector<uint64_t>& shape, const std::vector<T>& values,
                   const ArrayOptions& options) {
  FrameReport report;
  Result<std::vector<std::byte>> frame = encode_array(dtype_of<T>, shape, values.data(), options, &report);
  EXPECT_TRUE(frame.ok()) << frame.status().message();
  const Result<Frame> parsed = Frame::parse(*frame);
  EXPECT_TRUE(parsed.ok()) << parsed.status().message();
  std::vector<T> back(values.size(), T{42});
  const Status decoded = parsed->decode(reinterpret_cast<std::byte*>(back.data()), back.size() * sizeof(T));
  EXPECT_TRUE(decoded.ok()) << decoded.message();
  EXPECT_EQ(std::memcmp(back.data(), values.data(), values.size() * sizeof(T)), 0);
  return {std::move(*frame), report.components.empty() ? ComponentReport{} : report.components[0]};
}

std::vector<LosslessMethod> all_methods() {
  std::vector<LosslessMethod> methods;
  for (int m = 0; m < lossless_methods; ++m) methods.push_back(static_cast<LosslessMethod>(m));
  return methods;
}

template <class T>
class Lossless : public testing::Test {};
using ValueTypes = testing::Types<float, double>;
TYPED_TEST_SUITE(Lossless, ValueTypes);

TYPED_TEST(Lossless, EveryMethodKeepsEveryBit) {
  using T = TypeParam;
  const std::vector<std::vector<uint64_t>> shapes = {
      {1},       {2},        {3000},      {1, 700},     {700, 1},           {23, 31},
      {1, 1, 5}, {7, 9, 11}, {12, 1, 40}, {3, 5, 7, 9}, {2, 2, 1, 3, 4, 5}, {40, 50, 60}};
  for (const LosslessMethod method : all_methods()) {
    for (const auto& shape : shapes) {
      const auto cells = std::accumulate(shape.begin(), shape.end(), uint64_t{1}, std::multiplies<>());
      // Refused by name: RanksAskedForAreRefusedByNameWhereValuesAreTooMany.
      if (method == LosslessMethod::rank && cells > uint64_t{1} << 16) continue;
      SCOPED_TRACE(std::string(lossless_method_name(method)) + ", " + std::to_string(cells) + " cells");
      auto values = test::rough_field<T>({static_cast<int64_t>(cells)}, 0.01, cells);
      round_trip(shape, values, lossless_options(method));
      const auto& specials = test::special_values<T>();
      for (size_t i = 0; i < values.size(); i += 3) values[i] = specials[(i / 3) % specials.size()];
      round_trip(shape, values, lossless_options(method));
    }
  }
}

TYPED_TEST(Lossless, NanPayloadsAndDenormalsAreBitsLikeAnyOther) {
  using T = TypeParam;
  using U = WordOf<T>;
  test::Random random(3);
  for (const LosslessMethod method : all_methods()) {
    SCOPED_TRACE(std::string(lossless_method_name(method)));
    std::vector<T> values;
    for (int i = 0; i < 5000; ++i) values.push_back(std::bit_cast<T>(static_cast<U>(random.next())));
    for (int i = 0; i < 2000; ++i) values.push_back(std::bit_cast<T>(static_cast<U>(random.below(4000))));
    const U nan = std::bit_cast<U>(std::numeric_limits<T>::quiet_NaN());
    for (int i = 0; i < 500; ++i)
      values.push_back(std::bit_cast<T>(nan | static_cast<U>(random.below(1 << 20))));
    round_trip({values.size()}, values, lossless_options(method));
  }
}

TYPED_TEST(Lossless, FillValuesAndConstantsCostNearlyNothing) {
  using T = TypeParam;
  for (const double fill : {1e20, -999.0}) {
    auto values = test::rough_field<T>({60, 50, 40}, 1e-3, 4);
    ArrayOptions options = lossless_options();
    const size_t whole = round_trip({40, 50, 60}, values, options).frame.size();
    for (size_t i = 0; i < values.size(); ++i) {
      if (i % 60 < 30) values[i] = static_cast<T>(fill);
    }
    EXPECT_LT(round_trip({40, 50, 60}, values, options).frame.size(), whole * 6 / 10) << fill;
  }
  const std::vector<T> constant(100000, T(2.5));
  EXPECT_LT(round_trip({100000}, constant, lossless_options()).frame.size(), 150U);
}

TYPED_TEST(Lossless, ChoosesAMethodThatSuits) {
  using T = TypeParam;
  const std::vector<uint64_t> shape{40, 50, 60};
  const size_t cells = 40 * 50 * 60;
  std::vector<T> smooth, decimals, few;
  test::Random random(8);
  for (size_t i = 0; i < cells; ++i) {
    const double x = static_cast<double>(i % 60), y = static_cast<double>(i / 60 % 50);
    smooth.push_back(static_cast<T>(std::exp(3 * std::sin(0.05 * x) * std::cos(0.04 * y)) *
                                    (1 + 1e-6 * random.uniform())));
    decimals.push_back(static_cast<T>(static_cast<double>(random.below(2000)) / 100));
    few.push_back(static_cast<T>(std::sqrt(static_cast<double>(random.below(5)))));
  }
  std::vector<T> copies(cells);
  for (size_t i = 0; i < cells; ++i)
    copies[i] = i < 6000 ? static_cast<T>(random.uniform()) : copies[i - 6000];
  const auto chosen = [&](const std::vector<T>& values) {
    return round_trip(shape, values, lossless_options(LosslessMethod::automatic, Effort::max)).report.method;
  };
  EXPECT_EQ(chosen(smooth), LosslessMethod::lorenzo);
  EXPECT_EQ(chosen(decimals), LosslessMethod::multiple);
  EXPECT_EQ(chosen(few), LosslessMethod::rank);
  // Copies 6000 values apart: differences of the planes two apart are no candidate, repeats are.
  for (const Effort effort : {Effort::fast, Effort::balanced, Effort::max}) {
    const auto options = lossless_options(LosslessMethod::automatic, effort);
    EXPECT_LT(round_trip(shape, copies, options).frame.size(), 6000 * sizeof(T) * 11 / 10);
  }
}

// As a base state over a hill: samples see hardly any difference.
TYPED_TEST(Lossless, AnEstimateThatWasWrongIsNotTheLastWord) {
  using T = TypeParam;
  const std::vector<uint64_t> shape{4, 14, 48, 48};
  std::vector<T> levels;
  for (size_t i = 0; i < 4 * 14 * 48 * 48; ++i) {
    const double level = static_cast<double>(i / (48 * 48) % 14);
    const double x = static_cast<double>(i % 48) - 24, y = static_cast<double>(i / 48 % 48) - 24;
    const double height = std::max(0.0, 1 - (x * x + y * y) / 25);
    levels.push_back(static_cast<T>(1e5 * std::exp(-0.1 * level - 0.02 * height)));
  }
  size_t best = SIZE_MAX;
  for (const LosslessMethod method :
       {LosslessMethod::zstd, LosslessMethod::shuffle_zstd, LosslessMethod::xor_zstd, LosslessMethod::lorenzo,
        LosslessMethod::rank}) {
    best = std::min(best, round_trip(shape, levels, lossless_options(method, Effort::fast)).frame.size());
  }
  const auto options = lossless_options(LosslessMethod::automatic, Effort::fast);
  EXPECT_LE(round_trip(shape, levels, options).frame.size(), best * 115 / 100 + 64);
}

TYPED_TEST(Lossless, TheChoiceIsNearTheBestOfAll) {
  using T = TypeParam;
  std::vector<std::vector<T>> fields;
  for (const double noise : {0.0, 1e-6, 1e-3, 0.3})
    fields.push_back(test::rough_field<T>({64, 50, 20}, noise, 5));
  for (const auto& values : fields) {
    size_t best = SIZE_MAX;
    for (const LosslessMethod method : all_methods()) {
      if (method == LosslessMethod::automatic) continue;
      best = std::min(best, round_trip({20, 50, 64}, values, lossless_options(method)).frame.size());
    }
    const size_t chosen = round_trip({20, 50, 64}, values, lossless_options()).frame.size();
    EXPECT_LE(static_cast<double>(chosen), 1.05 * static_cast<double>(best));
  }
}

// As the corners of cells that share them: what follows one another in memory says most. Small and large
// arrays.
TYPED_TEST(Lossless, ShortRowsAreAlsoTakenAsALine) {
  using T = TypeParam;
  for (const uint64_t cells : {uint64_t{500}, uint64_t{10000}, uint64_t{90000}}) {
    std::vector<T> bounds;
    for (uint64_t c = 0; c < cells; ++c) {
      bounds.push_back(static_cast<T>(static_cast<double>(c) * 1.5));
      bounds.push_back(static_cast<T>(static_cast<double>(c + 1) * 1.5));
    }
    for (const Effort effort : {Effort::fast, Effort::balanced}) {
      const auto options = lossless_options(LosslessMethod::automatic, effort);
      const size_t as_line = round_trip({2 * cells}, bounds, options).frame.size();
      EXPECT_LE(round_trip({cells, 2}, bounds, options).frame.size(), as_line + 8) << cells;
      EXPECT_LE(round_trip({cells / 4, 4, 2}, bounds, options).frame.size(), as_line + 8) << cells;
    }
  }
  // Pairs that have nothing to do with each other stay pairs.
  std::vector<T> pairs;
  for (uint64_t c = 0; c < 40000; ++c) {
    pairs.push_back(static_cast<T>(c));
    pairs.push_back(static_cast<T>(-1e4 + 3 * static_cast<double>(c % 1000)));
  }
  const auto options = lossless_options();
  EXPECT_LT(round_trip({40000, 2}, pairs, options).frame.size(),
            round_trip({80000}, pairs, options).frame.size());
}

// Coordinates: their ranks take nothing, and too few values for a sample to say so.
TYPED_TEST(Lossless, FewValuesInOrderAreRanked) {
  using T = TypeParam;
  for (const size_t count : {30U, 110U, 432U}) {
    std::vector<T> coordinates;
    for (size_t i = 0; i < count; ++i)
      coordinates.push_back(static_cast<T>(-179.58 + 0.83 * static_cast<double>(i)));
    for (const bool falls : {false, true}) {
      if (falls) std::ranges::reverse(coordinates);
      size_t best = SIZE_MAX;
      for (const LosslessMethod method : all_methods()) {
        if (method == LosslessMethod::automatic) continue;
        best = std::min(best, round_trip({count}, coordinates, lossless_options(method)).frame.size());
      }
      for (const Effort effort : {Effort::fast, Effort::balanced, Effort::max}) {
        const auto options = lossless_options(LosslessMethod::automatic, effort);
        EXPECT_LE(round_trip({count}, coordinates, options).frame.size(),
                  best + std::max<size_t>(64, best / 10));
      }
    }
  }
}

TYPED_TEST(Lossless, SpeedHasItsWeight) {
  using T = TypeParam;
  const auto values = test::rough_field<T>({64, 50, 20}, 1e-4, 6);
  ArrayOptions options = lossless_options();
  options.tuning.speed_weight = 1;
  options.tuning.ratio_weight = 0;
  EXPECT_EQ(round_trip({20, 50, 64}, values, options).report.method, LosslessMethod::shuffle_lz4);
  options.tuning.speed_weight = 1e-6;
  options.tuning.ratio_weight = 1;
  EXPECT_NE(round_trip({20, 50, 64}, values, options).report.method, LosslessMethod::shuffle_lz4);
}

TYPED_TEST(Lossless, BySpeedRowsAreTakenAsTheyLie) {
  using T = TypeParam;
  ArrayOptions options = lossless_options();
  options.tuning.speed_weight = 1;
  options.tuning.ratio_weight = 0;
  // Cut along y: the planes of a tile do not follow one another. Rows of 1001 are no whole vectors.
  const std::vector<uint64_t> shape = {3, 1100, 1001};
  std::vector<T> values = test::rough_field<T>({1001, 1100, 3}, 1e-4, 9);
  values[5] = std::numeric_limits<T>::quiet_NaN();
  for (size_t i = 2000; i < 9000; ++i) values[i] = T(1e20);
  const Outcome fast = round_trip(shape, values, options);
  EXPECT_EQ(fast.report.method, LosslessMethod::shuffle_lz4);
  EXPECT_LT(fast.frame.size(), values.size() * sizeof(T));
  // The method asked for takes the same way; its lz4 looks closer.
  const Outcome asked = round_trip(shape, values, lossless_options(LosslessMethod::shuffle_lz4));
  EXPECT_LT(asked.frame.size(), fast.frame.size());
}

// Covered cells of a box that are left out, in a method of bytes: asked for, and by speed.
TYPED_TEST(Lossless, ByteMethodsLeaveCellsOut) {
  using T = TypeParam;
  const std::vector<T> values = test::rough_field<T>({40, 30}, 1e-4, 10);
  FrameLayout layout;
  layout.ndim = 2;
  layout.element_count = values.size();
  layout.boxes.push_back({});
  layout.boxes[0].size = {40, 30, 1, 1};
  layout.boxes[0].covered.push_back({{8, 4, 0, 0}, {16, 20, 1, 1}});
  const std::vector<BoxData> boxes = {dense_box_data(values.data(), layout.boxes[0])};
  ComponentSpec spec;
  spec.asked = {BoundMode::lossless, 0};
  spec.codec = Codec::lossless;
  spec.drop_covered = true;
  for (const bool by_speed : {false, true}) {
    spec.tuning.method = by_speed ? LosslessMethod::automatic : LosslessMethod::shuffle_zstd;
    spec.tuning.speed_weight = by_speed ? 1 : 0;
    spec.tuning.ratio_weight = by_speed ? 0 : 1;
    const auto frame = encode_frame(dtype_of<T>, layout, std::span(&spec, 1), boxes, {});
    ASSERT_TRUE(frame.ok()) << frame.status().message();
    const auto parsed = Frame::parse(*frame);
    ASSERT_TRUE(parsed.ok()) << parsed.status().message();
    std::vector<T> back(values.size(), T{42});
    ASSERT_TRUE(parsed->decode(reinterpret_cast<std::byte*>(back.data()), back.size() * sizeof(T)).ok());
    for (size_t i = 0; i < values.size(); ++i) {
      const size_t x = i % 40, y = i / 40;
      if (x < 8 || x >= 24 || y < 4 || y >= 24) {
        ASSERT_EQ(back[i], values[i]) << i;
      }
    }
  }
}

TYPED_TEST(Lossless, RepeatsPredict) {
  using T = TypeParam;
  using U = WordOf<T>;
  const auto part = test::rough_field<T>({60, 50}, 0.3, 12);  // nothing for differences to find
  std::vector<T> values = part;
  for (const bool is_reversed : {false, true}) {
    for (const bool is_negated : {false, true}) {
      std::vector<T> twice = part;
      test::repeat_start(twice, part.size(), is_reversed, is_negated);
      test::repeat_start(values, part.size(), is_reversed, is_negated);
      std::vector<U> words;
      for (const T value : twice) words.push_back(ordered_word(std::bit_cast<U>(value)));
      size_t end = 0, covered = 0;
      for (const WordRepeat& repeat : find_repeats<U>(words)) {
        ASSERT_GE(repeat.begin, end);
        ASSERT_LT(repeat.source, repeat.begin);
        end = repeat.begin + repeat.count;
        ASSERT_LE(end, words.size());
        for (size_t i = repeat.begin; i < end; ++i)
          ASSERT_EQ(repeated_part(repeat.word(words.data(), i)), repeated_part(words[i]));
        if (repeat.is_reversed == is_reversed && repeat.is_negated == is_negated) covered += repeat.count;
      }
      EXPECT_GT(covered, part.size() * 95 / 100);
    }
  }

  const size_t whole = round_trip({50, 60}, part, lossless_options(LosslessMethod::lorenzo)).frame.size();
  ArrayOptions options = lossless_options(LosslessMethod::lorenzo);
  const auto frame = round_trip({5, 50, 60}, values, options).frame;
  EXPECT_LT(frame.size(), whole * 3 / 2 + (sizeof(T) == 8 ? 3 * values.size() : 0));
  // The instruction set and threads make no difference.
  const std::string target = simd_target();
  for (const std::string& other : simd_targets()) {
    ASSERT_TRUE(set_simd_target(other).ok());
    EXPECT_EQ(round_trip({5, 50, 60}, values, options).frame, frame) << other;
  }
  ASSERT_TRUE(set_simd_target(target).ok());
  // Fill values and NaN within repeats, in every direction's rectangle and cut into several regions.
  auto holes = values;
  for (size_t i = 0; i < holes.size(); i += i % 50 < 20 ? 1 : 31) holes[i] = T(1e20);
  holes[4000] = std::numeric_limits<T>::quiet_NaN();
  for (const auto& shape :
       std::vector<std::vector<uint64_t>>{{5, 50, 60}, {15000}, {5, 5, 10, 60}, {3750, 4}})
    round_trip(shape, holes, lossless_options());
}

TEST(Repeats, ListsComeBackOrAreRefused) {
  const std::vector<WordRepeat> repeats = {
      {10, 5, 3, false, false}, {15, 4, 14, true, true}, {30, 70, 29, false, true}};
  Bytes coded;
  ByteWriter out(coded);
  write_repeats(repeats, out);
  ByteReader in(coded);
  const auto back = read_repeats(in, 100);
  ASSERT_TRUE(back.ok()) << back.status().message();
  EXPECT_EQ(in.remaining(), 0U);
  ASSERT_EQ(back->size(), repeats.size());
  for (size_t i = 0; i < repeats.size(); ++i) {
    EXPECT_EQ((*back)[i].begin, repeats[i].begin);
    EXPECT_EQ((*back)[i].count, repeats[i].count);
    EXPECT_EQ((*back)[i].source, repeats[i].source);
    EXPECT_EQ((*back)[i].is_reversed, repeats[i].is_reversed);
    EXPECT_EQ((*back)[i].is_negated, repeats[i].is_negated);
  }
  ByteReader short_of_cells(coded);
  EXPECT_FALSE(read_repeats(short_of_cells, 99).ok());
  // Sources that do not exist: behind the repeat, before the first word, before it when turned around.
  for (const WordRepeat& wrong : {WordRepeat{10, 4, 10}, WordRepeat{10, 4, 11}, WordRepeat{10, 4, SIZE_MAX},
                                  WordRepeat{10, 8, 6, true}}) {
    Bytes bytes;
    ByteWriter writer(bytes);
    write_repeats(std::span(&wrong, 1), writer);
    ByteReader reader(bytes);
    EXPECT_FALSE(read_repeats(reader, 100).ok()) << wrong.source;
  }
}

TYPED_TEST(Lossless, DamageToRepeatsIsRefusedOrHarmless) {
  using T = TypeParam;
  auto values = test::rough_field<T>({20, 10}, 0.3, 12);
  test::repeat_start(values, values.size(), true, false);
  const auto frame = round_trip({2, 10, 20}, values, lossless_options(LosslessMethod::lorenzo)).frame;
  test::Random random(5);
  std::vector<T> out(values.size());
  for (int k = 0; k < 2000; ++k) {
    auto damaged = frame;
    for (int64_t i = random.below(4); i >= 0; --i) {
      damaged[static_cast<size_t>(random.below(static_cast<int64_t>(frame.size())))] ^=
          static_cast<std::byte>(1 << random.below(8));
    }
    const auto parsed = Frame::parse(damaged);
    if (!parsed.ok()) continue;
    if (parsed->decode(reinterpret_cast<std::byte*>(out.data()), out.size() * sizeof(T)).ok()) {
      EXPECT_EQ(std::memcmp(out.data(), values.data(), values.size() * sizeof(T)), 0);
    }
  }
}

TYPED_TEST(Lossless, RanksAskedForAreUsedThoughTheyDoNotPay) {
  using T = TypeParam;
  // Nearly all values differ; the format holds 65536 of them.
  const auto values = test::rough_field<T>({150, 150}, 0.1, 7);
  EXPECT_EQ(round_trip({150, 150}, values, lossless_options(LosslessMethod::rank)).report.method,
            LosslessMethod::rank);
  // None is coded.
  std::vector<T> special(64, std::numeric_limits<T>::infinity());
  special[5] = -special[5];
  EXPECT_EQ(round_trip({64}, special, lossless_options(LosslessMethod::rank)).report.method,
            LosslessMethod::rank);
}

TYPED_TEST(Lossless, RanksAskedForAreRefusedByNameWhereValuesAreTooMany) {
  using T = TypeParam;
  std::vector<T> values(90000);
  std::iota(values.begin(), values.end(), T{1});
  const std::vector<uint64_t> shape = {300, 300};
  const auto frame = encode_array(std::is_same_v<T, float> ? DType::f32 : DType::f64, shape, values.data(),
                                  lossless_options(LosslessMethod::rank));
  EXPECT_EQ(frame.status().code(), Code::usage);
  EXPECT_EQ(frame.status().message(),
            "method rank: 90000 values have more than 65536 different ones among them, which it "
            "cannot hold; allowed for them are auto, lorenzo and the other methods");
}

TYPED_TEST(Lossless, BytesDoNotDependOnThreads) {
  using T = TypeParam;
  const auto values = test::rough_field<T>({3000000}, 1e-3, 9);
  ArrayOptions options = lossless_options();
  const auto one = round_trip({3000000}, values, options).frame;
  options.encode.threads = 4;
  EXPECT_EQ(round_trip({3000000}, values, options).frame, one);
}

TYPED_TEST(Lossless, DamageIsRefusedOrHarmless) {
  using T = TypeParam;
  // The checksum of a section is worked around: what the codec itself makes of damaged bytes is asked for.
  auto values = test::rough_field<T>({20, 15, 9}, 0.001, 6);
  for (T& value : values) value = std::round(value * 256) / 256;
  for (size_t i = 0; i < values.size(); i += i % 40 < 20 ? 1 : 21) values[i] = T(1e20);
  test::Random random(11);
  for (const LosslessMethod method : all_methods()) {
    if (method == LosslessMethod::automatic) continue;
    const auto frame = round_trip({9, 15, 20}, values, lossless_options(method)).frame;
    for (size_t size = 0; size < frame.size(); ++size) {
      EXPECT_FALSE([&] {
        const auto cut = Frame::parse(std::span(frame).first(size));
        if (!cut.ok()) return false;
        std::vector<T> out(values.size());
        return cut->decode(reinterpret_cast<std::byte*>(out.data()), out.size() * sizeof(T)).ok();
      }()) << size;
    }
    for (int k = 0; k < 200; ++k) {
      auto damaged = frame;
      damaged[static_cast<size_t>(random.below(static_cast<int64_t>(frame.size())))] ^=
          static_cast<std::byte>(1 << random.below(8));
      const auto parsed = Frame::parse(damaged);
      if (!parsed.ok()) continue;
      std::vector<T> out(values.size());
      const Status status = parsed->decode(reinterpret_cast<std::byte*>(out.data()), out.size() * sizeof(T));
      if (status.ok()) {
        EXPECT_EQ(std::memcmp(out.data(), values.data(), values.size() * sizeof(T)), 0);
      }
    }
  }
}

TEST(LosslessMethods, NamesGoBothWays) {
  for (const LosslessMethod method : all_methods()) {
    const auto parsed = parse_lossless_method(lossless_method_name(method));
    ASSERT_TRUE(parsed.ok());
    EXPECT_EQ(*parsed, method);
  }
  EXPECT_EQ(*parse_lossless_method("bwxor-BZIP2"), LosslessMethod::bwxor_bzip2);
  const auto unknown = parse_lossless_method("gzip");
  ASSERT_FALSE(unknown.ok());
  EXPECT_EQ(unknown.status().code(), Code::usage);
  EXPECT_NE(unknown.status().message().find("shuffle-zstd"), std::string::npos);
}

TEST(LosslessMethods, WeightsMustWeighSomething) {
  const std::vector<float> values(10, 1.5F);
  for (const auto& [speed, ratio] : {std::pair{0.0, 0.0}, {-1.0, 1.0}, {1.0, std::nan("")}}) {
    ArrayOptions options = lossless_options();
    options.tuning.speed_weight = speed;
    options.tuning.ratio_weight = ratio;
    const auto frame = encode_array(DType::f32, std::vector<uint64_t>{10}, values.data(), options);
    ASSERT_FALSE(frame.ok());
    EXPECT_EQ(frame.status().code(), Code::usage);
    EXPECT_NE(frame.status().message().find("weight"), std::string::npos);
  }
}

TEST(OrderedWords, OrderLikeValues) {
  const std::vector<double> rising = {-INFINITY, -1e300, -2.5, -1e-310, -0.0,
                                      0.0,       1e-310, 2.5,  1e300,   INFINITY};
  for (size_t i = 1; i < rising.size(); ++i) {
    EXPECT_LT(ordered_word(std::bit_cast<uint64_t>(rising[i - 1])),
              ordered_word(std::bit_cast<uint64_t>(rising[i])));
  }
  for (const double value : rising) {
    EXPECT_EQ(bits_of_ordered(ordered_word(std::bit_cast<uint64_t>(value))), std::bit_cast<uint64_t>(value));
  }
  EXPECT_EQ(fold_sign<uint32_t>(0), 0U);
  EXPECT_EQ(fold_sign<uint32_t>(0xffffffff), 1U);
  EXPECT_EQ(fold_sign<uint32_t>(1), 2U);
  for (const uint32_t difference : {0U, 1U, 77U, 0x80000000U, 0xfffffffeU}) {
    EXPECT_EQ(unfold_sign(fold_sign(difference)), difference);
  }
}

TEST(BytePlanes, ComeBack) {
  for (const size_t word_bytes : {1U, 2U, 4U, 8U}) {
    for (const size_t count : {0U, 1U, 7U, 8U, 9U, 16U, 33U, 4097U}) {
      Bytes words(word_bytes * count), planes(words.size()), back(words.size());
      test::Random random(count);
      for (std::byte& byte : words) byte = static_cast<std::byte>(random.next());
      to_byte_planes(words, word_bytes, planes);
      for (size_t i = 0; i < words.size(); ++i)
        ASSERT_EQ(planes[i % word_bytes * count + i / word_bytes], words[i]) << word_bytes << " " << i;
      from_byte_planes(planes, word_bytes, back);
      EXPECT_EQ(back, words);
      // Dealt out in two parts.
      Bytes parts(words.size());
      const size_t first = count / 3;
      const ByteSpan all(words);
      deal_bytes(all.first(first * word_bytes), word_bytes, parts.data(), count);
      deal_bytes(all.subspan(first * word_bytes), word_bytes, parts.data() + first, count);
      EXPECT_EQ(parts, planes);
      to_bit_planes(words, word_bytes, planes);
      from_bit_planes(planes, word_bytes, back);
      EXPECT_EQ(back, words);
    }
  }
  // The sign bits of eight floats are the first byte of the top byte's planes.
  std::vector<float> signs = {1, -1, 1, 1, -1, -1, 1, -1};
  Bytes planes(32);
  to_bit_planes(std::as_bytes(std::span(signs)), 4, planes);
  EXPECT_EQ(static_cast<int>(planes[24]), 0b10110010);
}

TEST(ByteCoders, GiveBackWhatTheyGot) {
  Bytes text;
  for (int i = 0; i < 5000; ++i) text.push_back(static_cast<std::byte>(i % 50));
  for (const ByteCoder coder :
       {ByteCoder::zstd, ByteCoder::lz4, ByteCoder::zlib, ByteCoder::bzip2, ByteCoder::lzo}) {
    ASSERT_TRUE(has_byte_coder(coder)) << byte_coder_name(coder);
    for (const size_t size : {size_t{0}, size_t{1}, text.size()}) {
      Bytes coded;
      ByteWriter out(coded);
      ASSERT_TRUE(write_coded(coder, ByteSpan(text).first(size), out).ok());
      if (size == text.size()) {
        EXPECT_LT(coded.size(), size / 2);
      }
      ByteReader in(coded);
      const auto back = read_coded(coder, in, size);
      ASSERT_TRUE(back.ok()) << back.status().message();
      EXPECT_EQ(*back, Bytes(text.begin(), text.begin() + static_cast<ptrdiff_t>(size)));
      // Another size than was coded is refused, not guessed.
      ByteReader again(coded);
      if (size > 1) {
        EXPECT_FALSE(read_coded(coder, again, size + 1).ok());
      }
    }
  }
}

TEST(ValueMultiples, FindTheUnit) {
  std::vector<float> hundredths, eighths, noise;
  test::Random random(2);
  for (int i = 0; i < 500; ++i) {
    hundredths.push_back(static_cast<float>(static_cast<double>(random.below(30000)) / 100));
    eighths.push_back(static_cast<float>(random.below(30000)) / 8);
    noise.push_back(static_cast<float>(random.uniform()));
  }
  const auto decimal = find_unit<float>(hundredths);
  ASSERT_TRUE(decimal.has_value());
  EXPECT_EQ(decimal->kind, ValueUnit::Kind::decimal);
  EXPECT_EQ(decimal->exponent, 2);
  const auto binary = find_unit<float>(eighths);
  ASSERT_TRUE(binary.has_value());
  // A tenth of a thousandth serves an eighth as well: either way values are whole multiples.
  const Multiples<float> multiples(*binary);
  for (const float value : eighths) {
    const auto multiple = multiples.multiple(value);
    ASSERT_TRUE(multiple.has_value());
    EXPECT_EQ(multiples.value(*multiple), value);
  }
  const auto unit_of = [](std::vector<double> values) { return find_unit<double>(values); };
  const auto tens = unit_of({20, -30, 0, 1010});
  EXPECT_EQ(tens->kind, ValueUnit::Kind::decimal_steps);
  EXPECT_EQ(tens->exponent, 0);
  EXPECT_EQ(tens->divisor, 10U);
  EXPECT_EQ(Multiples<double>(*tens).multiple(-30), -3);
  const auto twentieths = unit_of({0.15, 1.05, -0.35, 12.25});
  EXPECT_EQ(twentieths->kind, ValueUnit::Kind::decimal_steps);
  EXPECT_EQ(twentieths->exponent, 2);
  EXPECT_EQ(twentieths->divisor, 5U);
  EXPECT_EQ(Multiples<double>(*twentieths).value(245), 12.25);
  EXPECT_EQ(unit_of({24, 8, 0, 48})->exponent, 3);
  EXPECT_EQ(unit_of({0, 0, 0})->kind, ValueUnit::Kind::power_of_two);
  const Multiples<float> whole({ValueUnit::Kind::power_of_two, 0});
  for (const float value : {-0.0F, 0.5F, INFINITY, NAN, 1e20F})
    EXPECT_FALSE(whole.multiple(value).has_value());
  EXPECT_EQ(whole.multiple(-7.0F), -7);
}

}  // namespace
}  // namespace neve
