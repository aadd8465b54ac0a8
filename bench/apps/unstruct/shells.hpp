// SPDX-License-Identifier: BSD-3-Clause
// Superquadric shells (Barr 1981): a surface of latitudes and longitudes in layers; wedges (triangular
// prisms) fill the space between the layers, triangles cover the outermost.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "bench/harness/noise/noise.hpp"
#include "neve/status.hpp"
#include "parallel/comm/agree.hpp"

namespace neve::unstruct {

struct ShellOptions {
  uint64_t points = 200000;       // about; of all ranks
  double latitude_roundness = 1;  // exponents: 1 a sphere, towards 0 a box, 2 an octahedron
  double longitude_roundness = 1;
  bool change_roundness = false;  // over the steps towards latitude_end, longitude_end
  double latitude_end = 0.3, longitude_end = 0.3;
  double inner = 0.7;            // radius of the innermost layer; the outermost has 1
  double noise_frequency = 4;    // noise cells in a unit of length
  double time_frequency = 0.15;  // noise cells a step
  uint64_t seed = 1;
};

// A rank's part: longitudes, from one to the next.
struct Shells {
  std::vector<std::array<float, 3>> points;
  std::vector<float> noise;                    // at the points
  std::vector<std::array<int32_t, 6>> wedges;  // numbers of points over all ranks
  std::vector<std::array<int32_t, 3>> triangles;
};

// How many points there are in each direction, near to `points` altogether.
struct ShellGrid {
  int layers, latitudes, longitudes;  // latitudes without the poles, which every layer has once

  uint64_t points() const {
    return static_cast<uint64_t>(layers) *
           (static_cast<uint64_t>(latitudes) * static_cast<uint64_t>(longitudes) + 2);
  }
};
ShellGrid shell_grid(uint64_t points);

// Not collective: rank's share of the grid's longitudes. Numbers of points: those of longitude 0 of all
// layers and latitudes, then of longitude 1, ...; then the poles, which the last rank has.
Shells make_shells(const ShellOptions& options, const ShellGrid& grid, double progress, int step, int rank,
                   int ranks);

}  // namespace neve::unstruct
