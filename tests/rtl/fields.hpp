// SPDX-License-Identifier: BSD-3-Clause
// Streams of float32 that an engine could trip over, and the public fields.
#pragma once

#include <bit>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "tests/support/test_fields.hpp"

namespace neve::rtl {

// Smooth with noise, and of `share` of the values anything at all, some of it in runs.
inline std::vector<float> spiked_field(const std::vector<int64_t>& size, double noise, double share,
                                       float fill, uint64_t seed) {
  std::vector<float> field = test::rough_field<float>(size, noise, seed);
  test::Random random(seed + 1);
  const std::vector<float>& special = test::special_values<float>();
  for (size_t i = 0; i < field.size(); ++i) {
    if (random.uniform() >= share) continue;
    float value = fill;
    switch (random.below(4)) {
      case 0:
        value = special[static_cast<size_t>(random.below(static_cast<int64_t>(special.size())))];
        break;
      case 1:
        value = std::bit_cast<float>(static_cast<uint32_t>(random.next()));
        break;
      case 2:
        value =
            static_cast<float>(std::ldexp(random.uniform() - 0.5, static_cast<int>(random.below(60)) - 20));
        break;
      default:
        break;
    }
    const auto run = static_cast<size_t>(random.below(3) == 0 ? random.below(900) : 1);
    for (size_t end = std::min(field.size(), i + std::max<size_t>(1, run)); i < end; ++i) field[i] = value;
    --i;
  }
  return field;
}

// Any bits.
inline std::vector<float> random_bits(size_t count, uint64_t seed) {
  test::Random random(seed);
  std::vector<float> field(count);
  for (float& v : field) v = std::bit_cast<float>(static_cast<uint32_t>(random.next()));
  return field;
}

// Values at and beside the middles between quantization codes of a step.
inline std::vector<float> halves(size_t count, float step, uint64_t seed) {
  test::Random random(seed);
  std::vector<float> field(count);
  for (float& v : field) {
    const auto half = static_cast<float>(random.below(int64_t{1} << (2 + random.below(29)))) * 0.5F;
    const float exact = (random.below(2) == 0 ? half : -half) * step;
    v = std::bit_cast<float>(std::bit_cast<uint32_t>(exact) + static_cast<uint32_t>(random.below(5)) - 2U);
  }
  return field;
}

}  // namespace neve::rtl
