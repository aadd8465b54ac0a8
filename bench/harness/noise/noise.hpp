// SPDX-License-Identifier: BSD-3-Clause
// Coherent noise in four dimensions: smooth, without a direction of its own, a function of seed and place
// alone. Gradient noise on the lattice A4* (Conway and Sloane, Sphere Packings, chapter 4), whose cells are
// simplices: each point sees the five corners of its cell. Gradients come out of a hash of the corner, so
// that there is no table and no period but that of 32-bit whole numbers.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "neve/status.hpp"

namespace neve::apps {

using Point4 = std::array<double, 4>;

// Sample i lies at origin + i * step. A sample's value depends on these and on its own number alone: not on
// the part of the row that is asked for, nor on the instruction set.
struct NoiseRow {
  Point4 origin;
  Point4 step;
};

class Noise {
 public:
  explicit Noise(uint64_t seed);

  // Samples [first, first + count): in [-1, 1], mean 0, standard deviation 0.146. Lattice points are about 1
  // apart; coordinates count to about 10^8, beyond which their fractions are lost.
  void row(const NoiseRow& row, int64_t first, size_t count, float* out) const;
  float at(const Point4& point) const;

 private:
  uint32_t seed_;
};

// Millions of samples a second of one thread (of its processor time), on rows like those of the mini-apps.
struct NoiseSpeed {
  std::string target;
  double samples_per_second = 0;
};
// Of every instruction set this machine has, best first, plain C++ last.
Result<std::vector<NoiseSpeed>> measure_noise(double seconds_each);

}  // namespace neve::apps
