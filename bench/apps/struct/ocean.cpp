// SPDX-License-Identifier: BSD-3-Clause
#include "bench/apps/struct/ocean.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

namespace neve::structured {
namespace {

using apps::Noise;
using mpi::Comm;
using mpi::mpi_status;

constexpr uint64_t mask_seed = 0x6d61736b;  // set apart from the field's

double spacing(const Grid& g) { return 1.0 / std::max(g.cells[0], g.cells[1]); }

// The mask's noise of columns [x, x + count) of a row.
void mask_row(const Grid& g, int y, int x, int count, float* out) {
  const double h = spacing(g) * g.mask_frequency;
  Noise(g.seed ^ mask_seed).row({{0, y * h, 0, 0}, {h, 0, 0, 0}}, x, static_cast<size_t>(count), out);
}

// What is added to the noise at a depth.
float rise(const Grid& g, int depth) {
  return static_cast<float>(g.mask_slope * depth / std::max(1, g.cells[2] - 1));
}

struct Rows {
  int first, count;
};
Rows rows_of(const Comm& comm, int rank, int rows) {
  const auto first = [&](int r) { return static_cast<int>(int64_t{rows} * r / comm.size()); };
  return {first(rank), first(rank + 1) - first(rank)};
}

// Whole numbers in the order of the floats.
uint32_t ordered(float value) {
  const auto bits = std::bit_cast<uint32_t>(value);
  return (bits >> 31) != 0 ? ~bits : bits | 0x80000000u;
}
float from_ordered(uint32_t key) { return std::bit_cast<float>((key >> 31) != 0 ? key & 0x7fffffffu : ~key); }

}  // namespace

Grid grown(const Grid& grid, int ranks) {
  std::array<int, 2> best = {ranks, 1};
  double least = std::numeric_limits<double>::infinity();
  for (int x = 1; x <= ranks; ++x) {
    if (ranks % x != 0) continue;
    const double stretch = std::abs(std::log(static_cast<double>(grid.cells[0]) * x) -
                                    std::log(static_cast<double>(grid.cells[1]) * (ranks / x)));
    if (stretch < least) {
      least = stretch;
      best = {x, ranks / x};
    }
  }
  Grid larger = grid;
  for (size_t d = 0; d < 2; ++d) larger.cells[d] *= best[d];
  const double longer = std::max(larger.cells[0], larger.cells[1]);
  larger.mask_frequency = per_point(grid, grid.mask_frequency) * longer;
  larger.space_frequency = per_point(grid, grid.space_frequency) * longer;
  return larger;
}

Ocean::Ocean(const Grid& grid, float threshold) : grid_(grid), threshold_(threshold) {}

// Selection by counting, upper halves of the words first: exact, and the same for any number of ranks.
Result<Ocean> Ocean::with_valid(const Comm& comm, const Grid& grid, double fraction) {
  const Rows rows = rows_of(comm, comm.rank(), grid.cells[1]);
  const auto width = static_cast<size_t>(grid.cells[0]);
  std::vector<float> noise(width * static_cast<size_t>(rows.count));
  for (int y = 0; y < rows.count; ++y) {
    mask_row(grid, rows.first + y, 0, grid.cells[0], noise.data() + width * static_cast<size_t>(y));
  }
  auto rank_left = static_cast<uint64_t>(std::llround(fraction * static_cast<double>(grid.points())));
  if (rank_left == 0) return Ocean(grid, -std::numeric_limits<float>::infinity());
  constexpr size_t bins = 1 << 16;
  uint32_t upper = 0;
  for (const bool is_second : {false, true}) {
    std::vector<uint64_t> counts(bins, 0);
    for (int depth = 0; depth < grid.cells[2]; ++depth) {
      const float raised = rise(grid, depth);
      for (const float value : noise) {
        const uint32_t key = ordered(value + raised);
        if (!is_second) {
          ++counts[key >> 16];
        } else if (key >> 16 == upper) {
          ++counts[key & 0xffff];
        }
      }
    }
    NEVE_TRY(mpi_status(
        MPI_Allreduce(MPI_IN_PLACE, counts.data(), static_cast<int>(bins), MPI_UINT64_T, MPI_SUM, comm.get()),
        "merging of counts"));
    uint32_t bin = 0;
    while (rank_left > counts[bin]) rank_left -= counts[bin++];
    upper = is_second ? upper << 16 | bin : bin;
  }
  return Ocean(grid, from_ordered(upper));
}

Result<std::vector<uint32_t>> Ocean::valid_in_columns(const Comm& comm) const {
  const Rows rows = rows_of(comm, comm.rank(), grid_.cells[1]);
  const auto width = static_cast<size_t>(grid_.cells[0]);
  std::vector<uint32_t> counts(static_cast<size_t>(grid_.columns()), 0);
  std::vector<float> noise(width);
  for (int y = rows.first; y < rows.first + rows.count; ++y) {
    mask_row(grid_, y, 0, grid_.cells[0], noise.data());
    uint32_t* const row = counts.data() + static_cast<size_t>(y) * width;
    for (int depth = 0; depth < grid_.cells[2]; ++depth) {
      const float raised = rise(grid_, depth);
      for (size_t x = 0; x < width; ++x) row[x] += noise[x] + raised <= threshold_ ? 1 : 0;
    }
  }
  NEVE_TRY(mpi_status(MPI_Allreduce(MPI_IN_PLACE, counts.data(), static_cast<int>(counts.size()),
                                    MPI_UINT32_T, MPI_SUM, comm.get()),
                      "merging of columns"));
  return counts;
}

void Ocean::fill(const Tile& tile, int step, float* out) const {
  const auto width = static_cast<size_t>(tile.size[0]);
  const double h = spacing(grid_) * grid_.space_frequency;
  const Noise noise(grid_.seed);
  std::vector<float> mask(width * static_cast<size_t>(tile.size[1]));
  for (int y = 0; y < tile.size[1]; ++y) {
    mask_row(grid_, tile.first[1] + y, tile.first[0], tile.size[0],
             mask.data() + width * static_cast<size_t>(y));
  }
  for (int depth = 0; depth < grid_.cells[2]; ++depth) {
    const float raised = rise(grid_, depth);
    const float* land = mask.data();
    for (int y = 0; y < tile.size[1]; ++y, land += width, out += width) {
      noise.row({{0, (tile.first[1] + y) * h, depth * h, step * grid_.time_frequency}, {h, 0, 0, 0}},
                tile.first[0], width, out);
      for (size_t x = 0; x < width; ++x) out[x] = land[x] + raised <= threshold_ ? out[x] : grid_.fill;
    }
  }
}

}  // namespace neve::structured
