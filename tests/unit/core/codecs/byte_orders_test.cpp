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

constexpr std::array kinds{"smooth",  "rough",   "noise", "constant", "sparse", "masked",
                           "special", "lattice", "ramp",  "steps",    "line"};

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

// Waves of some lengths along every direction.
template <class T>
void add_waves(const std::vector<uint64_t>& shape, Random& random, std::vector<T>& values) {
  for (int wave = 0; wave < 3; ++wave) {
    const double height = std::pow(10.0, -2 * random.uniform());
    std::vector<double> turns(shape.size());
    for (double& t : turns) t = 6 * random.uniform();
    for (size_t i = 0; i < values.size(); ++i) {
      double phase = wave;
      size_t rest = i;
      for (size_t d = shape.size(); d-- > 0; rest /= shape[d])
        phase += turns[d] * static_cast<double>(rest % shape[d]) / static_cast<double>(shape[d]);
      values[i] += static_cast<T>(height * std::sin(phase));
    }
  }
}

template <class T>
std::vector<T> some_values(const std::string& kind, const std::vector<uint64_t>& shape, Random& random) {
  size_t cells = 1;
  for (const uint64_t n : shape) cells *= n;
  std::vector<T> values(cells, T(1));
  if (kind == "constant") return values;
  if (kind == "line") {
    values = test::fractional_noise<T>(15, 0.1 + 0.8 * random.uniform(), random.next());
    values.resize(cells);
    return values;
  }
  const double unit = std::pow(10.0, std::floor(4 * random.uniform()) - 2);
  const int64_t period = 1 + random.below(2000);
  double walk = 0;
  const bool is_walk = kind == "rough" || kind == "lattice";
  if (kind == "smooth" || kind == "masked" || kind == "special") add_waves(shape, random, values);
  for (size_t i = 0; i < cells; ++i) {
    walk += kind == "lattice" ? static_cast<double>(random.below(3) - 1) : random.uniform() - 0.5;
    if (is_walk) values[i] = static_cast<T>(walk * unit);
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

template <class T>
void check_case(uint64_t seed) {
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
    bytes[e] = bytes_of(shape, values, bound, effort);
    EXPECT_LE(bytes[e], most(bytes_of(shape, values, {BoundMode::lossless, 0}, effort), 1.01, 64))
        << "lossless is smaller at effort " << e << ": " << what;
    EXPECT_LE(bytes_of(shape, values, looser, effort), most(bytes[e], 1.05, 256))
        << "a looser bound takes more at effort " << e << ": " << what;
    if (e == 0) continue;
    EXPECT_LE(bytes[e], most(bytes[e - 1], 1.01, 64)) << "effort " << e << " takes more: " << what;
  }
}

TEST(ByteOrders, HoldForAllKindsOfValues) {
  for (int i = 0; i < case_count(); ++i) {
    const uint64_t seed = first_seed() + static_cast<uint64_t>(i);
    if (seed % 2 == 0) {
      check_case<float>(seed);
    } else {
      check_case<double>(seed);
    }
  }
}

}  // namespace
}  // namespace neve
