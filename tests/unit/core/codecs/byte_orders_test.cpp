// SPDX-License-Identifier: BSD-3-Clause
// What a user may expect of sizes, whatever the values: a bound never takes more than no loss at all, more
// effort never more than less, a looser bound never much more than a tighter one. NEVE_TEST_LONG=1 tries
// 10,000 generated arrays instead of 150; NEVE_TEST_SEED=N begins elsewhere.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <string>
#include <vector>

#include "neve/frame.hpp"
#include "tests/support/fractional_noise.hpp"
#include "tests/support/test_fields.hpp"

namespace neve {
namespace {

using test::Random;

constexpr std::array kinds{"smooth",  "rough",   "noise",   "constant", "sparse",   "masked",
                           "special", "lattice", "ramp",    "steps",    "products", "separable",
                           "plane",   "line",    "repeats", "floor"};

int case_count() { return std::getenv("NEVE_TEST_LONG") != nullptr ? 10000 : 150; }

uint64_t first_seed() {
  const char* text = std::getenv("NEVE_TEST_SEED");
  return text != nullptr ? std::strtoull(text, nullptr, 10) : 0;
}

std::vector<uint64_t> some_shape(Random& random) {
  constexpr std::array<int64_t, 4> longest{20000, 200, 32, 14};
  const auto dims = static_cast<size_t>(1 + random.below(4));
  std::vector<uint64_t> shape(dims);
  for (uint64_t& n : shape) n = static_cast<uint64_t>(1 + random.below(longest[dims - 1]));
  return shape;
}

size_t cells_of(const std::vector<uint64_t>& shape) {
  size_t cells = 1;
  for (const uint64_t n : shape) cells *= n;
  return cells;
}

// The position of cell i along each direction, slowest first, as a share of the direction's length.
std::vector<double> place_of(size_t i, const std::vector<uint64_t>& shape) {
  std::vector<double> place(shape.size());
  for (size_t d = shape.size(); d-- > 0; i /= shape[d])
    place[d] = static_cast<double>(i % shape[d]) / static_cast<double>(shape[d]);
  return place;
}

// Waves of some lengths along every direction.
template <class T>
void add_waves(const std::vector<uint64_t>& shape, Random& random, std::vector<T>& values) {
  for (int wave = 0; wave < 3; ++wave) {
    const double height = std::pow(10.0, -2 * random.uniform());
    std::vector<double> turns(shape.size());
    for (double& t : turns) t = 6 * random.uniform();
    for (size_t i = 0; i < values.size(); ++i) {
      const std::vector<double> place = place_of(i, shape);
      double phase = wave;
      for (size_t d = 0; d < shape.size(); ++d) phase += turns[d] * place[d];
      values[i] += static_cast<T>(height * std::sin(phase));
    }
  }
}

// One wave along every direction, multiplied.
template <class T>
std::vector<T> separable_waves(const std::vector<uint64_t>& shape, Random& random) {
  std::vector<double> turns(shape.size());
  for (double& t : turns) t = 12 * random.uniform();
  std::vector<T> values;
  for (size_t i = 0; i < cells_of(shape); ++i) {
    const std::vector<double> place = place_of(i, shape);
    double value = 1;
    for (size_t d = 0; d < shape.size(); ++d) value *= std::sin(turns[d] * place[d]);
    values.push_back(static_cast<T>(value));
  }
  return values;
}

// Another slope along each direction.
template <class T>
std::vector<T> plane(const std::vector<uint64_t>& shape, Random& random) {
  constexpr std::array slopes{2.0, 0.1, 1.0 / 3, 1.0, 0.25};
  std::vector<double> rises(shape.size());
  for (size_t d = 0; d < shape.size(); ++d)
    rises[d] = static_cast<double>(shape[d]) * slopes[static_cast<size_t>(random.below(slopes.size()))];
  std::vector<T> values;
  for (size_t i = 0; i < cells_of(shape); ++i) {
    const std::vector<double> place = place_of(i, shape);
    double value = 0;
    for (size_t d = 0; d < shape.size(); ++d) value += rises[d] * place[d];
    values.push_back(static_cast<T>(value));
  }
  return values;
}

template <class T>
std::vector<T> some_values(const std::string& kind, const std::vector<uint64_t>& shape, Random& random) {
  const size_t cells = cells_of(shape);
  std::vector<T> values(cells, T(1));
  if (kind == "constant") return values;
  if (kind == "line") {
    values = test::fractional_noise<T>(15, 0.1 + 0.8 * random.uniform(), random.next());
    values.resize(cells);
    return values;
  }
  if (kind == "separable") return separable_waves<T>(shape, random);
  if (kind == "plane") return plane<T>(shape, random);
  const double unit = std::pow(10.0, std::floor(4 * random.uniform()) - 2);
  const int64_t period = 1 + random.below(2000);
  double walk = 0;
  const bool is_walk = kind == "rough" || kind == "lattice";
  if (kind == "smooth" || kind == "masked" || kind == "special" || kind == "floor")
    add_waves(shape, random, values);
  if (kind == "repeats") {
    for (size_t i = 0; i < cells; ++i)
      values[i] = i < static_cast<size_t>(period) ? static_cast<T>(random.uniform())
                                                  : values[i - static_cast<size_t>(period)];
    return values;
  }
  for (size_t i = 0; i < cells; ++i) {
    walk += kind == "lattice" ? static_cast<double>(random.below(3) - 1) : random.uniform() - 0.5;
    if (is_walk) values[i] = static_cast<T>(walk * unit);
    if (kind == "products") values[i] = static_cast<T>(std::round(3 * walk)) * static_cast<T>(unit);
    if (kind == "floor") values[i] += static_cast<T>(1e-4 * (random.uniform() - 0.5));
    if (kind == "noise") values[i] = static_cast<T>(random.uniform());
    if (kind == "sparse") values[i] = random.below(32) == 0 ? static_cast<T>(random.uniform()) : T(0);
    if (kind == "ramp") values[i] = static_cast<T>(unit * static_cast<double>(i));
    if (kind == "steps")
      values[i] = static_cast<T>(unit * static_cast<double>(i / static_cast<size_t>(period)));
    if (kind == "masked" && (i / static_cast<size_t>(period)) % 3 == 0) values[i] = T(1e20);
    if (kind == "special" && random.below(200) == 0) values[i] = std::numeric_limits<T>::quiet_NaN();
  }
  return values;
}

template <class T>
size_t bytes_of(const std::vector<uint64_t>& shape, const std::vector<T>& values, Bound bound,
                Effort effort) {
  ArrayOptions options;
  options.bound = bound;
  options.encode.effort = effort;
  const auto bytes = encode_array(sizeof(T) == 4 ? DType::f32 : DType::f64, shape, values.data(), options);
  EXPECT_TRUE(bytes.ok()) << bytes.status().message();
  return bytes.ok() ? bytes->size() : 0;
}

double most(size_t bytes, double share, size_t more) {
  return static_cast<double>(bytes) * share + static_cast<double>(more);
}

// Appends the orders that this case breaks.
template <class T>
void check_case(uint64_t seed, std::vector<std::string>& broken) {
  Random random(seed);
  const std::string kind = kinds[static_cast<size_t>(random.below(kinds.size()))];
  const std::vector<uint64_t> shape = some_shape(random);
  const std::vector<T> values = some_values<T>(kind, shape, random);
  const bool is_absolute = random.below(2) == 0;
  const double size = std::pow(10.0, is_absolute ? 3 * random.uniform() - 2 : -1 - 6 * random.uniform());
  const Bound bound{is_absolute ? BoundMode::abs : BoundMode::rel, size};
  const Bound looser{bound.mode, std::min(size * (2 + 8 * random.uniform()), is_absolute ? HUGE_VAL : 0.5)};
  std::string what = kind + (sizeof(T) == 4 ? " f32" : " f64");
  for (const uint64_t n : shape) what += " " + std::to_string(n);
  what += " " + to_string(bound) + " looser " + to_string(looser) + " seed " + std::to_string(seed);

  std::array<size_t, 3> bytes{};
  for (const Effort effort : {Effort::fast, Effort::balanced, Effort::max}) {
    const auto e = static_cast<size_t>(effort);
    const auto check = [&](size_t more, size_t less, double share, size_t allowed, const std::string& order) {
      if (static_cast<double>(more) <= most(less, share, allowed)) return;
      broken.push_back(order + " at effort " + std::to_string(e) + ": " + std::to_string(more) + " for " +
                       std::to_string(less) + " bytes: " + what);
    };
    bytes[e] = bytes_of(shape, values, bound, effort);
    check(bytes[e], bytes_of(shape, values, {BoundMode::lossless, 0}, effort), 1.01, 64,
          "lossless is smaller");
    check(bytes_of(shape, values, looser, effort), bytes[e], 1.05, 256, "a looser bound takes more");
    if (e > 0) check(bytes[e], bytes[e - 1], 1.01, 64, "more effort takes more");
  }
}

// Samples decide, and miss something in one case of some thousands.
TEST(ByteOrders, HoldForAllKindsOfValues) {
  std::vector<std::string> broken;
  for (int i = 0; i < case_count(); ++i) {
    const uint64_t seed = first_seed() + static_cast<uint64_t>(i);
    if (seed % 2 == 0) {
      check_case<float>(seed, broken);
    } else {
      check_case<double>(seed, broken);
    }
  }
  std::string list;
  for (const std::string& order : broken) list += order + "\n";
  EXPECT_LE(broken.size(), static_cast<size_t>(case_count() / 1000)) << list;
}

// What a bound takes of these values, against no loss.
template <class T>
void check_against_lossless(const std::vector<uint64_t>& shape, const std::vector<T>& values,
                            const std::vector<double>& bounds) {
  for (const Effort effort : {Effort::fast, Effort::balanced, Effort::max}) {
    const size_t lossless = bytes_of(shape, values, {BoundMode::lossless, 0}, effort);
    for (const double bound : bounds) {
      EXPECT_LE(bytes_of(shape, values, {BoundMode::rel, bound}, effort), most(lossless, 1.01, 64))
          << "bound " << bound << ", effort " << static_cast<int>(effort);
    }
  }
}

template <class T>
std::vector<T> repeated(uint64_t period, uint64_t count) {
  Random random(period);
  std::vector<T> values;
  for (uint64_t i = 0; i < count; ++i)
    values.push_back(i < period ? static_cast<T>(random.uniform()) : values[i - period]);
  return values;
}

TEST(ByteOrders, HoldForRepeatsThatAreFarApart) {
  check_against_lossless<double>({300000}, repeated<double>(1000, 300000), {3e-2, 1e-4});
  check_against_lossless<float>({600000}, repeated<float>(77777, 600000), {1e-3, 1e-6});
  check_against_lossless<float>({64, 50, 40}, repeated<float>(7, 128000), {1e-2, 1e-5});
}

// As where a coarse field was put on a finer grid.
TEST(ByteOrders, HoldForRowsAndPlanesThatRepeat) {
  Random random(3);
  std::vector<float> row_field, plane_field;
  std::vector<float> noise(250 * 250);
  for (float& value : noise) value = static_cast<float>(random.uniform());
  for (size_t y = 0; y < 1000; ++y)
    for (size_t x = 0; x < 250; ++x) row_field.push_back(noise[y / 4 * 250 + x]);
  for (size_t z = 0; z < 24; ++z)
    for (size_t i = 0; i < 120 * 100; ++i) plane_field.push_back(noise[z / 6 * 12000 + i]);
  check_against_lossless<float>({1000, 250}, row_field, {1e-5, 1e-6, 1e-7});
  check_against_lossless<float>({24, 120, 100}, plane_field, {1e-5, 1e-6, 1e-7});
}

// Whole waves are their own mirror images.
TEST(ByteOrders, HoldForMirroredFields) {
  constexpr size_t n = 64;
  std::vector<double> wave;
  for (size_t i = 0; i < n; ++i)
    wave.push_back(std::sin(2 * M_PI * static_cast<double>(i) / static_cast<double>(n - 1)));
  std::vector<float> values;
  for (size_t i = 0; i < n * n * n; ++i)
    values.push_back(static_cast<float>(wave[i / (n * n)] * wave[i / n % n] * wave[i % n]));
  check_against_lossless<float>({n, n, n}, values, {1e-5, 1e-6, 1e-7});
}

// Mixed differences of sums over the directions are 0: what finds that at a tight bound finds it at a looser
// one.
TEST(ByteOrders, HoldForSumsAtEffortMax) {
  constexpr size_t n = 64;
  std::vector<double> values;
  const auto wave = [](size_t i) { return std::sin(2 * M_PI * static_cast<double>(i) / (n - 1)); };
  for (size_t i = 0; i < n * n * n; ++i)
    values.push_back(wave(i / (n * n)) + wave(i / n % n) / 2 + wave(i % n) / 4);
  const size_t tight = bytes_of({n, n, n}, values, {BoundMode::rel, 1e-8}, Effort::max);
  EXPECT_LE(bytes_of({n, n, n}, values, {BoundMode::rel, 1e-7}, Effort::max), most(tight, 1.05, 256));
}

}  // namespace
}  // namespace neve
