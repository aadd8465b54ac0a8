// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <bit>
#include <cmath>

#include "bench/harness/noise/kernels.hpp"

namespace neve::apps::noise {
namespace {

// Gradient of the corner's hash (each component the hash shifted up: its upper bits count) times the way
// to the corner, times the kernel. Operations in the order of simd.cpp.
inline float corner(uint32_t h, const float x[4]) {
  h ^= h >> 16;
  h *= mix1;
  h ^= h >> 15;
  h *= mix2;
  const float g0 = static_cast<float>(static_cast<int32_t>(h));
  const float g1 = static_cast<float>(static_cast<int32_t>(h << 8));
  const float g2 = static_cast<float>(static_cast<int32_t>(h << 16));
  // The last one has but a byte: its middle, so that the mean is 0.
  const float g3 = static_cast<float>(static_cast<int32_t>(h << 24 | 0x00800000u));
  const float dot = (g0 * x[0] + g1 * x[1]) + (g2 * x[2] + g3 * x[3]);
  const float r2 = (x[0] * x[0] + x[1] * x[1]) + (x[2] * x[2] + x[3] * x[3]);
  float t = std::max(radius2 - r2, 0.0f);
  t *= t;
  return t * t * dot;
}

float sample(const Block& block, size_t i) {
  const auto along = static_cast<float>(i);
  uint32_t h = block.hash;
  float w[4];
  for (int d = 0; d < 4; ++d) {
    const float u = block.base[d] + along * block.step[d];
    const float whole = std::floor(u);
    w[d] = u - whole;
    h += static_cast<uint32_t>(static_cast<int32_t>(whole)) * prime[d];
  }
  const float sum = (w[0] + w[1]) + (w[2] + w[3]);
  constexpr auto back = static_cast<float>(unskew);
  const float shift = sum * back;
  float x[4];
  for (int d = 0; d < 4; ++d) x[d] = w[d] - shift;
  // How many coordinates lie before each: the way through the cell goes along the largest first.
  int before[4] = {0, 0, 0, 0};
  for (int a = 0; a < 4; ++a) {
    for (int b = a + 1; b < 4; ++b) ++before[w[a] >= w[b] ? b : a];
  }
  float value = corner(h, x);
  for (int c = 1; c < 4; ++c) {
    const float stay = static_cast<float>(c) * back, go = stay - 1.0f;
    uint32_t hc = h;
    float xc[4];
    for (int d = 0; d < 4; ++d) {
      const bool gone = before[d] < c;
      xc[d] = x[d] + (gone ? go : stay);
      if (gone) hc += prime[d];
    }
    value = value + corner(hc, xc);
  }
  constexpr float last = 4 * back - 1.0f;
  for (float& component : x) component += last;
  value = value + corner(h + (prime[0] + prime[1] + prime[2] + prime[3]), x);
  return value * scale;
}

}  // namespace

void fill_portable(const Block& block, size_t first, size_t count, float* out) {
  for (size_t i = 0; i < count; ++i) out[i] = sample(block, first + i);
}

}  // namespace neve::apps::noise
