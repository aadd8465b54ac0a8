// SPDX-License-Identifier: BSD-3-Clause
// Encoding that can be repeated: what a frame decodes to decodes to the same bits once more, whatever other
// values came beside it in the meantime.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "neve/frame.hpp"

namespace neve {
namespace {

template <class T>
constexpr DType dtype = sizeof(T) == 4 ? DType::f32 : DType::f64;

template <class T>
std::vector<T> there_and_back(const std::vector<T>& values, const ArrayOptions& options,
                              Codec* codec = nullptr) {
  const uint64_t shape[] = {values.size()};
  FrameReport report;
  const auto frame = encode_array(dtype<T>, shape, values.data(), options, &report);
  EXPECT_TRUE(frame.ok()) << frame.status().message();
  if (codec != nullptr) *codec = report.components.front().codec;
  const auto parsed = Frame::parse(*frame);
  EXPECT_TRUE(parsed.ok());
  std::vector<T> out(values.size());
  EXPECT_TRUE(parsed->decode(reinterpret_cast<std::byte*>(out.data()), out.size() * sizeof(T)).ok());
  return out;
}

template <class T>
bool same_bits(T a, T b) {
  return std::memcmp(&a, &b, sizeof(T)) == 0;
}

// Values around `middle`, of that width, among them everything that is hard.
template <class T>
std::vector<T> hard_values(std::mt19937_64& random, double middle, double width) {
  std::uniform_real_distribution<double> uniform(-width, width);
  std::vector<T> values(3000);
  double walk = 0;
  for (T& value : values) {
    walk += uniform(random) / 50;
    value = static_cast<T>(middle + (random() % 4 == 0 ? uniform(random) : walk));
  }
  using Limits = std::numeric_limits<T>;
  const T special[] = {Limits::quiet_NaN(),  Limits::infinity(), -Limits::infinity(), T{-0.0},         T{0},
                       Limits::denorm_min(), Limits::min(),      Limits::max(),       Limits::lowest()};
  for (int i = 0; i < 40; ++i) values[random() % values.size()] = special[random() % std::size(special)];
  return values;
}

template <class T>
void check_bound(const std::vector<T>& original, const std::vector<T>& found, double bound) {
  for (size_t i = 0; i < original.size(); ++i) {
    if (same_bits(original[i], found[i])) continue;
    ASSERT_LE(std::abs(static_cast<double>(original[i]) - static_cast<double>(found[i])), bound)
        << i << ": " << original[i];
  }
}

template <class T>
class Lattices : public ::testing::Test {};
using Floats = ::testing::Types<float, double>;
TYPED_TEST_SUITE(Lattices, Floats);

TYPED_TEST(Lattices, DecodedValuesStayWhateverStandsBesideThem) {
  using T = TypeParam;
  std::mt19937_64 random(7);
  for (int round = 0; round < 300; ++round) {
    const double middle = (random() % 3 == 0 ? 0 : 1) * std::ldexp(1, static_cast<int>(random() % 60) - 30);
    const double width = std::ldexp(1, static_cast<int>(random() % 40) - 20) * std::max(middle, 1e-3);
    ArrayOptions options;
    options.bound = {BoundMode::abs, width * std::pow(10, -static_cast<double>(random() % 700) / 100)};
    options.encode.effort = static_cast<Effort>(random() % 3);
    options.detect_fill = random() % 2 == 0;
    options.lattice = Lattice{};
    if (random() % 2 == 0) options.lattice->range = {middle - width, middle + width, false};
    const Codec codecs[] = {Codec::automatic, Codec::automatic, Codec::dual_quant, Codec::exact};
    options.codec = codecs[random() % 4];

    std::vector<T> original = hard_values<T>(random, middle, width);
    std::vector<T> held = there_and_back(original, options);
    check_bound(original, held, options.bound.value);
    for (int rewrite = 0; rewrite < 4; ++rewrite) {
      // A part is replaced, by values elsewhere: centre, range and choice of codec change.
      const double elsewhere = middle + width * static_cast<double>(random() % 200);
      const std::vector<T> others = hard_values<T>(random, elsewhere, width);
      const size_t begin = random() % held.size(), end = begin + random() % (held.size() - begin);
      std::copy(others.begin() + static_cast<ptrdiff_t>(begin), others.begin() + static_cast<ptrdiff_t>(end),
                held.begin() + static_cast<ptrdiff_t>(begin));
      std::copy(others.begin() + static_cast<ptrdiff_t>(begin), others.begin() + static_cast<ptrdiff_t>(end),
                original.begin() + static_cast<ptrdiff_t>(begin));
      const std::vector<T> next = there_and_back(held, options);
      for (size_t i = 0; i < held.size(); ++i) {
        if (i >= begin && i < end) continue;
        ASSERT_TRUE(same_bits(held[i], next[i])) << round << " " << i << ": " << held[i] << " " << next[i];
      }
      held = next;
      check_bound(original, held, options.bound.value);
    }
  }
}

TYPED_TEST(Lattices, EveryCodecThatMayBeChosenIsRepeated) {
  using T = TypeParam;
  std::mt19937_64 random(11);
  std::vector<bool> chosen(codecs);
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const double bound : {1e-1, 1e-9, 1e-300}) {
    for (int kind = 0; kind < 5; ++kind) {
      std::vector<T> values = hard_values<T>(random, 5, kind == 0 ? 0 : 1);
      if (kind == 1) std::fill(values.begin(), values.end(), static_cast<T>(5.3));
      if (kind == 2) std::fill(values.begin(), values.end() - 9, static_cast<T>(nan));
      if (kind == 3) {
        for (size_t i = 0; i < values.size(); ++i)
          values[i] = static_cast<T>(std::ldexp(1, static_cast<int>(i % 100)));
      }
      if (kind == 4) {  // nothing hard among them
        for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<T>(5 + std::sin(0.02 * double(i)));
      }
      ArrayOptions options;
      options.bound = {BoundMode::abs, bound};
      options.lattice = Lattice{};
      Codec codec{};
      const std::vector<T> once = there_and_back(values, options, &codec);
      chosen[static_cast<size_t>(codec)] = true;
      const std::vector<T> twice = there_and_back(once, options);
      EXPECT_EQ(std::memcmp(once.data(), twice.data(), once.size() * sizeof(T)), 0);
      check_bound(values, twice, bound);
    }
  }
  for (const Codec codec : {Codec::dual_quant, Codec::constant, Codec::lossless}) {
    EXPECT_TRUE(chosen[static_cast<size_t>(codec)]) << codec_name(codec);
  }
}

// Half a step below the largest quantization code rounds up to it.
TYPED_TEST(Lattices, FirstValuesAtTheLimitOfCodesAreRead) {
  using T = TypeParam;
  for (const bool is_lattice : {false, true}) {
    for (int i = -40; i <= 40; ++i) {
      ArrayOptions options;
      options.bound = {BoundMode::abs, 0.01};
      if (is_lattice) options.lattice = Lattice{};
      const double step = is_lattice ? 0.01977539 : 0.02;
      const double first = (std::ldexp(1, 28) + i / 20.0) * step;
      std::vector<T> values(64);
      for (size_t k = 0; k < 64; ++k)
        values[k] = static_cast<T>(-0.9 * first * static_cast<double>(k * 37 % 64) / 64);
      values[0] = static_cast<T>(first);
      check_bound(values, there_and_back(values, options), 0.01);
    }
  }
}

TYPED_TEST(Lattices, OtherCodecsAreRefused) {
  const std::vector<TypeParam> values(100);
  const uint64_t shape[] = {values.size()};
  for (const Codec codec : {Codec::interpolation, Codec::context, Codec::lorenzo_regression}) {
    ArrayOptions options;
    options.bound = {BoundMode::abs, 1};
    options.codec = codec;
    options.lattice = Lattice{};
    const Status status = encode_array(dtype<TypeParam>, shape, values.data(), options).status();
    EXPECT_NE(status.message().find("does not keep its decoded values"), std::string::npos)
        << status.message();
  }
}

// As CF has them: several fill values, limits, and readers that compare.
TYPED_TEST(Lattices, MissingValuesComeBackAndNothingElseBecomesOne) {
  using T = TypeParam;
  std::mt19937_64 random(5);
  std::uniform_real_distribution<double> uniform(-10, 10);
  for (int round = 0; round < 200; ++round) {
    ArrayOptions options;
    options.bound = {BoundMode::abs, std::pow(10, -static_cast<double>(random() % 40) / 10)};
    options.encode.effort = static_cast<Effort>(random() % 3);
    if (random() % 2 == 0) options.lattice = Lattice{};
    options.fill = -9999.1;
    options.missing.fills = {1e30, 3.3, 0};
    options.missing.is_mask = true;
    options.missing.lowest = -8;
    if (random() % 2 == 0) options.missing.highest = 7.77;
    const T fills[] = {static_cast<T>(-9999.1), static_cast<T>(1e30), static_cast<T>(3.3), T{0}};
    const auto is_missing = [&](T value) {
      return value < static_cast<T>(options.missing.lowest) ||
             value > static_cast<T>(options.missing.highest) ||
             std::find(std::begin(fills), std::end(fills), value) != std::end(fills);
    };
    std::vector<T> values(2000);
    for (T& value : values) value = random() % 5 == 0 ? fills[random() % 4] : static_cast<T>(uniform(random));
    const std::vector<T> found = there_and_back(values, options);
    for (size_t i = 0; i < values.size(); ++i) {
      ASSERT_EQ(is_missing(values[i]), is_missing(found[i])) << values[i] << " " << found[i];
      ASSERT_TRUE(!is_missing(values[i]) || same_bits(values[i], found[i]));
    }
    check_bound(values, found, options.bound.value);
  }
}

TYPED_TEST(Lattices, MissingValuesAndPaddingCountInNoRange) {
  using T = TypeParam;
  std::vector<T> values(1000);
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = static_cast<T>(280 + std::sin(static_cast<double>(i)));
  for (size_t i = 0; i < 100; ++i) values[i] = i % 2 == 0 ? T{0} : static_cast<T>(-9999.1);
  values[100] = static_cast<T>(1e35);
  ArrayOptions options;
  options.bound = {BoundMode::rel, 1e-3};
  options.fill = -9999.1;
  options.missing.fills = {1e35};
  options.missing.has_zero_padding = true;
  check_bound(values, there_and_back(values, options), 1e-3 * 2);
}

}  // namespace
}  // namespace neve
