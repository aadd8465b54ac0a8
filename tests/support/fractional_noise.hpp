// SPDX-License-Identifier: BSD-3-Clause
// Lines as rough as asked for: fractional Brownian motion by random midpoint displacement (Fournier, Fussell,
// Carpenter, "Computer rendering of stochastic models", CACM 25, 1982).
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "tests/support/test_fields.hpp"

namespace neve::test {

// 2^octaves values whose increments over a distance d spread as d^hurst.
template <class T>
std::vector<T> fractional_noise(int octaves, double hurst, uint64_t seed) {
  Random random(seed);
  // Nearly normal: twelve uniform numbers have variance 1.
  const auto normal = [&] {
    double sum = -6;
    for (int i = 0; i < 12; ++i) sum += random.uniform();
    return sum;
  };
  const size_t count = size_t{1} << octaves;
  std::vector<double> line(count + 1);
  line[count] = normal();
  double spread = std::sqrt(1 - std::pow(2.0, 2 * hurst - 2));
  for (size_t step = count; step > 1; step /= 2) {
    spread *= std::pow(0.5, hurst);
    for (size_t i = step / 2; i < count; i += step)
      line[i] = (line[i - step / 2] + line[i + step / 2]) / 2 + spread * normal();
  }
  return {line.begin(), line.end() - 1};
}

}  // namespace neve::test
