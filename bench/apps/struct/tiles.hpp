// SPDX-License-Identifier: BSD-3-Clause
// Sharing the columns of a grid among ranks, as rectangles.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "neve/status.hpp"

namespace neve::structured {

// Columns [first[d], first[d] + size[d]), d = 0 along x.
struct Tile {
  std::array<int, 2> first{0, 0}, size{0, 0};

  bool operator==(const Tile&) const = default;
  int64_t columns() const { return int64_t{size[0]} * size[1]; }
};

// As equal as whole columns are, whatever is in them: tasks[0] x tasks[1] tiles, x fastest.
std::vector<Tile> even_tiles(std::array<int, 2> columns, std::array<int, 2> tasks);

// tasks whose tiles are nearest to squares.
std::array<int, 2> square_tasks(std::array<int, 2> columns, int ranks);

// Recursive bisection (Berger and Bokhari 1987): ranks are halved, and the rectangle is cut across where the
// weights (of columns, x fastest) divide as the ranks do. A tile a rank, none without a column; needs as many
// columns as ranks.
std::vector<Tile> balanced_tiles(std::array<int, 2> columns, std::span<const uint32_t> weights, int ranks);

double max_over_mean(std::array<int, 2> columns, std::span<const uint32_t> weights,
                     std::span<const Tile> tiles);

}  // namespace neve::structured
