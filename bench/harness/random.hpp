// SPDX-License-Identifier: BSD-3-Clause
// Pseudo-random numbers as a function of a seed alone: the same on every rank and every machine.
#pragma once

#include <cmath>
#include <cstdint>
#include <numbers>

namespace neve::apps {

// splitmix64 (Steele, Lea and Flood 2014).
inline uint64_t mix(uint64_t seed) {
  seed += 0x9e3779b97f4a7c15u;
  seed = (seed ^ (seed >> 30)) * 0xbf58476d1ce4e5b9u;
  seed = (seed ^ (seed >> 27)) * 0x94d049bb133111ebu;
  return seed ^ (seed >> 31);
}

// In [0, 1).
inline double uniform(uint64_t seed) { return static_cast<double>(mix(seed) >> 11) * 0x1p-53; }

// A sequence of its own for every pair of seed and stream.
class Random {
 public:
  Random(uint64_t seed, uint64_t stream) : state_(mix(mix(seed) ^ stream)) {}

  double uniform() { return apps::uniform(state_++); }
  // Mean 0, variance 1 (Box and Muller 1958).
  double normal() {
    const double radius = std::sqrt(-2 * std::log(1 - uniform()));
    return radius * std::cos(2 * std::numbers::pi * uniform());
  }

 private:
  uint64_t state_;
};

}  // namespace neve::apps
