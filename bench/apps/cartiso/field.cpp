// SPDX-License-Identifier: BSD-3-Clause
#include "bench/apps/cartiso/field.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

namespace neve::cartiso {
namespace {

constexpr uint64_t carried_seed = 0x63617272;
constexpr double carried_frequency = 5;

double between(double a, double b, double t) { return a + (b - a) * t; }

}  // namespace

Result<Change> parse_change(const std::string& name) {
  if (name == "sin2gauss") return Change::sin2gauss;
  if (name == "gaussmove") return Change::gaussmove;
  if (name == "gaussresize") return Change::gaussresize;
  return usage_error(
      fmt::format("change '{}' is unknown; allowed are sin2gauss, gaussmove, gaussresize", name));
}

Field::Field(const Shape& shape, double progress)
    : shape_(shape),
      sigma_(shape.sigma),
      center_(shape.center),
      wave_(shape.wave),
      time_(progress),
      noise_(shape.seed),
      carried_(shape.seed ^ carried_seed) {
  const double t = shape.backward ? 1 - progress : progress;
  for (size_t d = 0; d < 3; ++d) {
    if (shape.change == Change::gaussmove) center_[d] = between(shape.center[d], 1 - shape.center[d], t);
    if (shape.change == Change::gaussresize) sigma_[d] = between(shape.sigma[d], shape.sigma_end[d], t);
  }
  if (shape.change == Change::sin2gauss) wave_ = 1 - t;
}

double Field::spacing(size_t d) const { return 1.0 / std::max(1, shape_.points[d] - 1); }

void Field::fill(const apps::GridBox& box, float* out) const {
  std::array<std::vector<float>, 3> bell, waves;
  for (size_t d = 0; d < 3; ++d) {
    for (int i = 0; i < box.size[d]; ++i) {
      const double x = (box.first[d] + i) * spacing(d) - center_[d];
      bell[d].push_back(static_cast<float>(std::exp(-0.5 * std::pow(x / sigma_[d], 2))));
      waves[d].push_back(static_cast<float>(std::cos(2 * std::numbers::pi * shape_.frequency[d] * x)));
    }
  }
  const auto amplitude = static_cast<float>(shape_.amplitude), noise = static_cast<float>(shape_.noise);
  const auto wave = static_cast<float>(wave_), still = static_cast<float>(1 - wave_);
  const auto width = static_cast<size_t>(box.size[0]);
  const double f = shape_.noise_frequency;
  for (size_t z = 0; z < static_cast<size_t>(box.size[2]); ++z) {
    for (size_t y = 0; y < static_cast<size_t>(box.size[1]); ++y, out += width) {
      noise_.row({{0, (box.first[1] + static_cast<int>(y)) * spacing(1) * f,
                   (box.first[2] + static_cast<int>(z)) * spacing(2) * f, time_},
                  {spacing(0) * f, 0, 0, 0}},
                 box.first[0], width, out);
      const float bell_yz = amplitude * bell[1][y] * bell[2][z], waves_yz = wave * waves[1][y] * waves[2][z];
      for (size_t x = 0; x < width; ++x) {
        out[x] = bell_yz * bell[0][x] * (still + waves_yz * waves[0][x]) + noise * out[x];
      }
    }
  }
}

float Field::noise_at(const std::array<float, 3>& place) const {
  return carried_.at(
      {place[0] * carried_frequency, place[1] * carried_frequency, place[2] * carried_frequency, time_});
}

}  // namespace neve::cartiso
