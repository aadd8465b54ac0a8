// SPDX-License-Identifier: BSD-3-Clause
#include "bench/apps/struct/layout.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace neve::structured {

Result<std::vector<Tile>> make_tiles(const Case& options, std::span<const uint32_t> weights, bool balanced,
                                     int count) {
  const std::array<int, 2> columns = {options.grid.cells[0], options.grid.cells[1]};
  if (balanced) return balanced_tiles(columns, weights, count);
  std::array<int, 2> tasks = options.tasks;
  if (tasks[0] == 0 && tasks[1] == 0) tasks = square_tasks(columns, count);
  if (int64_t{tasks[0]} * tasks[1] != count || tasks[0] > columns[0] || tasks[1] > columns[1]) {
    return usage_error(
        fmt::format("tasks {}x{} on {} ranks and {}x{} columns; their product must be the "
                    "number of ranks, and none above the columns",
                    tasks[0], tasks[1], count, columns[0], columns[1]));
  }
  return even_tiles(columns, tasks);
}

apps::ArrayPart tile_part(const Case& options, const Tile& tile, const std::vector<float>& values) {
  apps::ArrayPart part;
  part.spec.name = "value";
  for (size_t d = 3; d-- > 0;) {
    part.spec.shape.push_back(static_cast<uint64_t>(options.grid.cells[d]));
    part.spec.chunk.push_back(static_cast<uint64_t>(std::min(options.chunk[d], options.grid.cells[d])));
  }
  part.spec.fill = static_cast<double>(options.grid.fill);
  part.start = {0, static_cast<uint64_t>(tile.first[1]), static_cast<uint64_t>(tile.first[0])};
  part.count = {part.spec.shape[0], static_cast<uint64_t>(tile.size[1]), static_cast<uint64_t>(tile.size[0])};
  part.values = values.data();
  return part;
}

size_t tile_points(const Case& options, const Tile& tile) {
  return static_cast<size_t>(tile.columns()) * static_cast<size_t>(options.grid.cells[2]);
}

std::vector<uint64_t> valid_points(const Case& options, std::span<const uint32_t> weights,
                                   std::span<const Tile> tiles) {
  std::vector<uint64_t> points;
  for (const Tile& tile : tiles) {
    uint64_t sum = 0;
    for (int y = tile.first[1]; y < tile.first[1] + tile.size[1]; ++y) {
      const auto row = weights.begin() + static_cast<ptrdiff_t>(y) * options.grid.cells[0] + tile.first[0];
      for (auto weight = row; weight != row + tile.size[0]; ++weight) sum += *weight;
    }
    points.push_back(sum);
  }
  return points;
}

std::vector<uint64_t> raw_bytes(const Case& options, std::span<const Tile> tiles) {
  std::vector<uint64_t> bytes;
  for (const Tile& tile : tiles) bytes.push_back(tile_points(options, tile) * sizeof(float));
  return bytes;
}

}  // namespace neve::structured
