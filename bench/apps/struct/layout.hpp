// SPDX-License-Identifier: BSD-3-Clause
// A case's grid as tiles, and a tile as what outputs store.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "bench/apps/struct/benchmark.hpp"
#include "bench/harness/output/array.hpp"
#include "neve/status.hpp"

namespace neve::structured {

// `count` tiles of equal size (Case::tasks, if it says) or of equal weight. `weights` of columns, x fastest.
// Errors: usage, where the tasks are not so many or more than there are columns.
Result<std::vector<Tile>> make_tiles(const Case& options, std::span<const uint32_t> weights, bool balanced,
                                     int count);

// The tile's values, [depth][y][x], which outlive the part.
apps::ArrayPart tile_part(const Case& options, const Tile& tile, const std::vector<float>& values);
size_t tile_points(const Case& options, const Tile& tile);

// What each tile has: of valid points, and of bytes of all its points.
std::vector<uint64_t> valid_points(const Case& options, std::span<const uint32_t> weights,
                                   std::span<const Tile> tiles);
std::vector<uint64_t> raw_bytes(const Case& options, std::span<const Tile> tiles);

}  // namespace neve::structured
