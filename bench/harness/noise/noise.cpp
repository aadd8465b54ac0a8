// SPDX-License-Identifier: BSD-3-Clause
#include "bench/harness/noise/noise.hpp"

#include <algorithm>
#include <cmath>
#include <string_view>

#include "bench/harness/noise/kernels.hpp"
#include "bench/harness/random.hpp"
#include "core/kernels/targets.hpp"
#include "core/threads/thread_clock.hpp"
#include "neve/frame.hpp"

namespace neve::apps {
namespace {

using noise::Block;
using noise::block_samples;

Block block_of(const NoiseRow& row, int64_t begin, uint32_t seed) {
  Point4 at;
  double at_sum = 0, step_sum = 0;
  for (size_t d = 0; d < 4; ++d) {
    at[d] = row.origin[d] + static_cast<double>(begin) * row.step[d];
    at_sum += at[d];
    step_sum += row.step[d];
  }
  Block block;
  block.hash = seed;
  for (size_t d = 0; d < 4; ++d) {
    const double u = at[d] + noise::skew * at_sum;
    const double whole = std::floor(u);
    block.base[d] = static_cast<float>(u - whole);
    block.step[d] = static_cast<float>(row.step[d] + noise::skew * step_sum);
    block.hash += static_cast<uint32_t>(static_cast<int64_t>(whole)) * noise::prime[d];
  }
  return block;
}

void fill(noise::BlockKernel kernel, const NoiseRow& row, uint32_t seed, int64_t first, size_t count,
          float* out) {
  float samples[block_samples + noise::row_padding];
  constexpr auto length = static_cast<int64_t>(block_samples);
  for (size_t done = 0; done < count;) {
    const int64_t at = first + static_cast<int64_t>(done);
    const int64_t within = ((at % length) + length) % length;
    const Block block = block_of(row, at - within, seed);
    const size_t part = std::min(count - done, static_cast<size_t>(length - within));
    // A kernel stores whole vectors: at the end of what was asked for they have to go elsewhere first.
    const bool has_room = done + part + noise::row_padding <= count;
    kernel(block, static_cast<size_t>(within), part, has_room ? out + done : samples);
    if (!has_room) std::copy_n(samples, part, out + done);
    done += part;
  }
}

}  // namespace

namespace noise {

BlockKernel kernel_in_force() {
  const std::string_view name = kernels().name;
  for (const Target& target : simd_targets()) {
    if (name == target.name) return target.fill;
  }
  return fill_portable;
}

}  // namespace noise

Noise::Noise(uint64_t seed) : seed_(static_cast<uint32_t>(mix(seed) >> 32)) {}

void Noise::row(const NoiseRow& row, int64_t first, size_t count, float* out) const {
  fill(noise::kernel_in_force(), row, seed_, first, count, out);
}

float Noise::at(const Point4& point) const {
  float value = 0;
  fill(noise::fill_portable, {point, {}}, seed_, 0, 1, &value);
  return value;
}

Result<std::vector<NoiseSpeed>> measure_noise(double seconds_each) {
  const std::string before = simd_target();
  const Noise noise(1);
  // A row of 256 cells across ten lattice points, as struct's.
  std::vector<float> samples(256);
  std::vector<NoiseSpeed> speeds;
  for (const std::string& target : simd_targets()) {
    NEVE_TRY(set_simd_target(target));
    const double begin = thread_seconds();
    double taken = 0;
    int64_t rows = 0;
    while (taken < seconds_each) {
      for (int k = 0; k < 256; ++k, ++rows) {
        const double y = 0.04 * static_cast<double>(rows % 256), z = 0.04 * static_cast<double>(rows / 256);
        noise.row({{0, y, z, 0.5}, {0.04, 0, 0, 0}}, 0, samples.size(), samples.data());
      }
      taken = thread_seconds() - begin;
    }
    speeds.push_back({target, static_cast<double>(rows) * static_cast<double>(samples.size()) / taken});
  }
  NEVE_TRY(set_simd_target(before));
  return speeds;
}

}  // namespace neve::apps
