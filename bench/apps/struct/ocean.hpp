// SPDX-License-Identifier: BSD-3-Clause
// The grid, its land and its field: functions of the place alone.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "bench/apps/struct/tiles.hpp"
#include "bench/harness/noise/noise.hpp"
#include "neve/status.hpp"
#include "parallel/comm/agree.hpp"

namespace neve::structured {

struct Grid {
  std::array<int, 3> cells{256, 256, 64};  // NI, NJ, NK: x, y and depth
  double mask_frequency = 4;               // lattice points of the noise across the longer of x and y
  double mask_slope = 0.15;                // land grows by this (of the noise) from the surface to the bottom
  double space_frequency = 10;             // of the field, as that of the mask
  double time_frequency = 0.1;             // lattice points a step
  float fill = -999;
  uint64_t seed = 1;

  int64_t columns() const { return int64_t{cells[0]} * cells[1]; }
  int64_t points() const { return columns() * cells[2]; }
};

// Noise cells a point, of a frequency across the grid.
inline double per_point(const Grid& grid, double frequency) {
  return frequency / std::max(grid.cells[0], grid.cells[1]);
}

// Of as many such grids as there are ranks, side by side along x and y so that the whole is nearest to a
// square. Noise cells a point stay: both frequencies grow with the longer side, as land and field do.
Grid grown(const Grid& grid, int ranks);

class Ocean {
 public:
  // Land where the mask's noise, raised with depth, is above the threshold.
  Ocean(const Grid& grid, float threshold);
  // Collective: the threshold that leaves the fraction valid, to a column at most where the slope is 0.
  static Result<Ocean> with_valid(const mpi::Comm& comm, const Grid& grid, double fraction);

  const Grid& grid() const { return grid_; }
  float threshold() const { return threshold_; }

  // Collective: valid points of every column, x fastest.
  Result<std::vector<uint32_t>> valid_in_columns(const mpi::Comm& comm) const;
  // The field of a tile at a step, [depth][y][x], with the fill value on land.
  void fill(const Tile& tile, int step, float* out) const;

 private:
  Grid grid_;
  float threshold_;
};

}  // namespace neve::structured
