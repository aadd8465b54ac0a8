// SPDX-License-Identifier: BSD-3-Clause
// The mini-apps' noise: the same bits however it is asked for, and what makes it noise.
#include "bench/harness/noise/noise.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "neve/frame.hpp"

namespace neve::apps {
namespace {

constexpr NoiseRow slanted = {{-3.7, 11.25, 0.5, 100.125}, {0.043, -0.011, 0.002, 0.07}};

std::vector<float> row_of(const Noise& noise, const NoiseRow& row, int64_t first, size_t count) {
  std::vector<float> samples(count + 3, -7.0f);
  noise.row(row, first, count, samples.data());
  EXPECT_EQ(samples[count], -7.0f) << "written past the end";
  samples.resize(count);
  return samples;
}

TEST(Noise, IsTheSameOnEveryInstructionSet) {
  const std::string before = simd_target();
  ASSERT_TRUE(set_simd_target("portable").ok());
  const NoiseRow rows[] = {slanted,
                           {{0, 0, 0, 0}, {0.5, 0, 0, 0}},  // ties between coordinates, and lattice points
                           {{-1e6, 3e6, 0, 0}, {0, 0, 1.75, 0}},
                           {{0.25, 0.25, 0.25, 0.25}, {0.125, 0.125, 0.125, 0.125}}};
  for (const NoiseRow& row : rows) {
    ASSERT_TRUE(set_simd_target("portable").ok());
    const std::vector<float> expected = row_of(Noise(5), row, -70, 500);
    for (const std::string& target : simd_targets()) {
      ASSERT_TRUE(set_simd_target(target).ok());
      const std::vector<float> found = row_of(Noise(5), row, -70, 500);
      EXPECT_EQ(std::memcmp(expected.data(), found.data(), expected.size() * sizeof(float)), 0) << target;
    }
  }
  ASSERT_TRUE(set_simd_target(before).ok());
}

TEST(Noise, DoesNotDependOnThePartOfARowThatIsAskedFor) {
  const Noise noise(1);
  const std::vector<float> whole = row_of(noise, slanted, -200, 400);
  for (size_t begin : {0u, 1u, 63u, 130u, 199u, 200u, 257u}) {
    for (size_t count : {1u, 2u, 15u, 64u, 140u}) {
      const std::vector<float> part = row_of(noise, slanted, static_cast<int64_t>(begin) - 200, count);
      EXPECT_TRUE(std::equal(part.begin(), part.end(), whole.begin() + static_cast<ptrdiff_t>(begin)))
          << begin << " " << count;
    }
  }
}

// Moments over a large part of space, of several seeds.
TEST(Noise, HasTheStatisticsThatItsHeaderSays) {
  for (uint64_t seed : {1u, 2u, 99u}) {
    const Noise noise(seed);
    double sum = 0, squares = 0, cubes = 0;
    float least = 0, most = 0;
    size_t count = 0;
    for (int row = 0; row < 2000; ++row) {
      // Places without relation to the lattice.
      const Point4 origin = {std::fmod(row * 17.31, 97.0), std::fmod(row * 5.77, 89.0),
                             std::fmod(row * 3.19, 83.0), std::fmod(row * 1.37, 79.0)};
      for (const float v : row_of(noise, {origin, {0.713, 0.291, 0.117, 0.0531}}, 0, 256)) {
        sum += v;
        squares += static_cast<double>(v) * v;
        cubes += static_cast<double>(v) * v * v;
        least = std::min(least, v);
        most = std::max(most, v);
        ++count;
      }
    }
    const auto n = static_cast<double>(count);
    const double stddev = std::sqrt(squares / n);
    EXPECT_NEAR(sum / n, 0, 0.002);
    EXPECT_NEAR(stddev, 0.146, 0.003);
    EXPECT_NEAR(cubes / n / (stddev * stddev * stddev), 0, 0.05) << "skewness";
    EXPECT_GE(least, -1.0f);
    EXPECT_LE(most, 1.0f);
    EXPECT_GT(most, 0.5f) << "the range is used";
    EXPECT_LT(least, -0.5f);
  }
}

// Steps of one length along axes, diagonals and an odd direction: the same mean square difference.
TEST(Noise, PrefersNoDirection) {
  const Noise noise(3);
  const Point4 directions[] = {{1, 0, 0, 0},     {0, 1, 0, 0},         {0, 0, 1, 0},
                               {0, 0, 0, 1},     {0.5, 0.5, 0.5, 0.5}, {0.5, -0.5, 0.5, -0.5},
                               {0.6, 0.8, 0, 0}, {0.6, 0, 0, -0.8}};
  for (const double length : {0.1, 0.35}) {
    std::vector<double> variations;
    for (const Point4& direction : directions) {
      double squares = 0;
      constexpr int places = 20000;
      for (int i = 0; i < places; ++i) {
        const Point4 origin = {i * 0.7548776662, i * 0.5698402910, std::fmod(i * 0.3247179572, 50.0),
                               std::fmod(i * 1.2207440846, 50.0)};
        Point4 step;
        for (size_t d = 0; d < 4; ++d) step[d] = length * direction[d];
        const std::vector<float> pair = row_of(noise, {origin, step}, 0, 2);
        squares += std::pow(static_cast<double>(pair[1]) - pair[0], 2);
      }
      variations.push_back(std::sqrt(squares / places));
    }
    const auto [least, most] = std::minmax_element(variations.begin(), variations.end());
    EXPECT_LT(*most / *least, 1.04) << length;
  }
}

// Far finer than cells: no jump, and none of the slope either.
TEST(Noise, IsSmoothAcrossCells) {
  const Noise noise(4);
  for (const Point4& direction : {Point4{1, 0, 0, 0}, Point4{0.3, -0.2, 0.9, 0.1}}) {
    constexpr double h = 1.0 / 512;
    Point4 step;
    for (size_t d = 0; d < 4; ++d) step[d] = h * direction[d];
    const std::vector<float> v = row_of(noise, {{0.3, 0.7, 0.2, 0.9}, step}, 0, 20000);
    double jump = 0, bend = 0;
    for (size_t i = 2; i < v.size(); ++i) {
      jump = std::max(jump, std::abs(static_cast<double>(v[i]) - v[i - 1]));
      bend = std::max(bend, std::abs(static_cast<double>(v[i]) - 2.0 * v[i - 1] + v[i - 2]));
    }
    EXPECT_LT(jump / h, 6) << "slope";
    EXPECT_LT(bend / (h * h), 60) << "curvature";
    EXPECT_GT(jump / h, 1) << "there is something to see";
  }
}

TEST(Noise, EverySeedIsAnother) {
  const NoiseRow row = {{0.1, 0.2, 0.3, 0.4}, {0.9, 0.37, 0.11, 0.53}};
  const std::vector<float> first = row_of(Noise(1), row, 0, 20000);
  for (uint64_t seed : {2u, 3u, 1000u}) {
    const std::vector<float> other = row_of(Noise(seed), row, 0, first.size());
    double product = 0, squares = 0;
    for (size_t i = 0; i < first.size(); ++i) {
      product += static_cast<double>(first[i]) * other[i];
      squares += static_cast<double>(first[i]) * first[i];
    }
    EXPECT_LT(std::abs(product / squares), 0.03) << seed;
  }
  EXPECT_EQ(first, row_of(Noise(1), row, 0, first.size()));
}

}  // namespace
}  // namespace neve::apps
