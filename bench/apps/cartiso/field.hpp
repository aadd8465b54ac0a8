// SPDX-License-Identifier: BSD-3-Clause
// The field of the Cartesian mini-app, at points of the unit cube: a Gaussian, times a wave, with noise.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "bench/harness/boxes.hpp"
#include "bench/harness/noise/noise.hpp"
#include "neve/status.hpp"

namespace neve::cartiso {

enum class Change : uint8_t {
  sin2gauss,    // the wave fades out
  gaussmove,    // the Gaussian moves from its centre to the opposite place
  gaussresize,  // it grows or shrinks
};
Result<Change> parse_change(const std::string& name);

using Vector = std::array<double, 3>;

struct Shape {
  std::array<int, 3> points{96, 96, 96};
  Change change = Change::gaussmove;
  bool backward = false;
  Vector sigma{0.12, 0.12, 0.12}, sigma_end{0.3, 0.3, 0.3};
  Vector center{0.3, 0.35, 0.4};
  Vector frequency{3, 3, 3};  // waves across the cube
  double wave = 0.3;          // share of the wave: 0 none (sin2gauss begins with all)
  double amplitude = 1;
  double noise = 0.05;          // its amplitude
  double noise_frequency = 12;  // lattice points across the cube
  uint64_t seed = 1;
};

class Field {
 public:
  // `progress` in 0..1: from the first to the last step.
  Field(const Shape& shape, double progress);

  // Points of the box, which may reach beyond the cube, x fastest.
  void fill(const apps::GridBox& box, float* out) const;
  // A value of its own at any place: what triangles carry.
  float noise_at(const std::array<float, 3>& place) const;
  double spacing(size_t d) const;

 private:
  Shape shape_;
  Vector sigma_, center_;
  double wave_, time_;
  apps::Noise noise_, carried_;
};

}  // namespace neve::cartiso
