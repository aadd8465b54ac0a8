// SPDX-License-Identifier: BSD-3-Clause
// Seeded fields for the core's tests: smooth, rough, and every value a bound could trip over.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

namespace neve::test {

// SplitMix64: the same numbers with every standard library, which golden frames need.
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}
  uint64_t next() {
    uint64_t z = (state_ += 0x9E3779B97F4A7C15ULL);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
    return z ^ (z >> 31);
  }
  double uniform() { return static_cast<double>(next() >> 11) * 0x1p-53; }
  int64_t below(int64_t n) { return static_cast<int64_t>(next() % static_cast<uint64_t>(n)); }

 private:
  uint64_t state_;
};

// A parabola with noise: only + - x, so every machine makes the same bits.
template <class T>
std::vector<T> rough_field(const std::vector<int64_t>& size, double noise, uint64_t seed) {
  Random random(seed);
  int64_t cells = 1;
  for (const int64_t n : size) cells *= n;
  std::vector<T> field(static_cast<size_t>(cells));
  for (int64_t i = 0; i < cells; ++i) {
    double value = 1;
    int64_t rest = i;
    for (const int64_t n : size) {
      const double at = static_cast<double>(rest % n) / static_cast<double>(n) - 0.375;
      value += at * at;
      rest /= n;
    }
    field[static_cast<size_t>(i)] = static_cast<T>(value + noise * (random.uniform() - 0.5));
  }
  return field;
}

template <class T>
const std::vector<T>& special_values() {
  using L = std::numeric_limits<T>;
  static const std::vector<T> values{
      L::quiet_NaN(), -L::quiet_NaN(), L::infinity(),    -L::infinity(), T{-0.0},
      T{0},           L::denorm_min(), -L::denorm_min(), L::min(),       L::max(),
      L::lowest(),    T(1e20),         T(-999),          T(1e-30),       L::epsilon()};
  return values;
}

// A copy of the first `count` values behind all, with other low bits where words are wide.
template <class T>
void repeat_start(std::vector<T>& values, size_t count, bool is_reversed, bool is_negated) {
  Random random(values.size());
  for (size_t i = 0; i < count; ++i) {
    T value = values[is_reversed ? count - 1 - i : i];
    if constexpr (sizeof(T) == 8) {
      const auto noise = static_cast<uint64_t>(random.below(1 << 20));
      value = std::bit_cast<T>(std::bit_cast<uint64_t>(value) ^ noise);
    }
    values.push_back(is_negated ? -value : value);
  }
}

}  // namespace neve::test
