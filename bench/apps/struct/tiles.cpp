// SPDX-License-Identifier: BSD-3-Clause
#include "bench/apps/struct/tiles.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace neve::structured {
namespace {

// Sums of weights over rectangles.
class AreaTable {
 public:
  AreaTable(std::array<int, 2> columns, std::span<const uint32_t> weights)
      : width_(static_cast<size_t>(columns[0]) + 1) {
    sums_.assign(width_ * (static_cast<size_t>(columns[1]) + 1), 0);
    for (size_t y = 1; y <= static_cast<size_t>(columns[1]); ++y) {
      uint64_t row = 0;
      for (size_t x = 1; x < width_; ++x) {
        row += weights[(y - 1) * (width_ - 1) + (x - 1)];
        sums_[y * width_ + x] = sums_[(y - 1) * width_ + x] + row;
      }
    }
  }
  uint64_t sum(const Tile& t) const {
    const auto at = [&](int x, int y) {
      return sums_[static_cast<size_t>(y) * width_ + static_cast<size_t>(x)];
    };
    const int x0 = t.first[0], x1 = x0 + t.size[0], y0 = t.first[1], y1 = y0 + t.size[1];
    return at(x1, y1) - at(x0, y1) - at(x1, y0) + at(x0, y0);
  }

 private:
  size_t width_;
  std::vector<uint64_t> sums_;
};

struct Cut {
  Tile low, high;
  double load = std::numeric_limits<double>::infinity();  // of the busier side, a rank
};

Tile part(const Tile& tile, size_t axis, int first, int size) {
  Tile p = tile;
  p.first[axis] += first;
  p.size[axis] = size;
  return p;
}

// The best cut across an axis that leaves each side a column a rank.
Cut best_cut(const AreaTable& table, const Tile& tile, size_t axis, int low_ranks, int high_ranks) {
  const int64_t across = tile.size[1 - axis];
  const auto least = static_cast<int>((low_ranks + across - 1) / across);
  const auto most = tile.size[axis] - static_cast<int>((high_ranks + across - 1) / across);
  Cut best;
  // The sum grows with the cut: where it passes the share, one of two neighbours is best.
  const double share = static_cast<double>(table.sum(tile)) * low_ranks / (low_ranks + high_ranks);
  int below = least, above = most;
  while (below < above) {
    const int middle = (below + above) / 2;
    if (static_cast<double>(table.sum(part(tile, axis, 0, middle))) < share) {
      below = middle + 1;
    } else {
      above = middle;
    }
  }
  for (int at = std::max(least, below - 1); at <= std::min(most, below); ++at) {
    const Tile low = part(tile, axis, 0, at), high = part(tile, axis, at, tile.size[axis] - at);
    const double load = std::max(static_cast<double>(table.sum(low)) / low_ranks,
                                 static_cast<double>(table.sum(high)) / high_ranks);
    if (load < best.load) best = {low, high, load};
  }
  return best;
}

// What a cut across the longer side may cost over one across the other: long thin tiles have more neighbours.
constexpr double shape_tolerance = 0.002;

void bisect(const AreaTable& table, const Tile& tile, int ranks, std::vector<Tile>& tiles) {
  if (ranks == 1) {
    tiles.push_back(tile);
    return;
  }
  int low_ranks = ranks / 2, high_ranks = ranks - low_ranks;
  const size_t longer = tile.size[0] >= tile.size[1] ? 0 : 1;
  Cut cut = best_cut(table, tile, longer, low_ranks, high_ranks);
  const Cut other = best_cut(table, tile, 1 - longer, low_ranks, high_ranks);
  if (other.load < cut.load * (1 - shape_tolerance)) cut = other;
  if (std::isinf(cut.load)) {
    // With nearly a rank a column no cut gives both halves enough of them: then columns are halved, not
    // ranks.
    const int half = tile.size[longer] / 2;
    cut.low = part(tile, longer, 0, half);
    cut.high = part(tile, longer, half, tile.size[longer] - half);
    low_ranks =
        static_cast<int>(std::clamp<int64_t>(low_ranks, ranks - cut.high.columns(), cut.low.columns()));
    high_ranks = ranks - low_ranks;
  }
  bisect(table, cut.low, low_ranks, tiles);
  bisect(table, cut.high, high_ranks, tiles);
}

}  // namespace

std::vector<Tile> even_tiles(std::array<int, 2> columns, std::array<int, 2> tasks) {
  std::vector<Tile> tiles;
  const auto begin = [&](size_t axis, int task) {
    return static_cast<int>(int64_t{columns[axis]} * task / tasks[axis]);
  };
  for (int y = 0; y < tasks[1]; ++y) {
    for (int x = 0; x < tasks[0]; ++x) {
      const int x0 = begin(0, x), y0 = begin(1, y);
      tiles.push_back({{x0, y0}, {begin(0, x + 1) - x0, begin(1, y + 1) - y0}});
    }
  }
  return tiles;
}

std::array<int, 2> square_tasks(std::array<int, 2> columns, int ranks) {
  std::array<int, 2> best = {ranks, 1};
  double least = std::numeric_limits<double>::infinity();
  for (int x = 1; x <= ranks; ++x) {
    if (ranks % x != 0) continue;
    const int y = ranks / x;
    const double stretch = std::abs(std::log(static_cast<double>(columns[0]) / x) -
                                    std::log(static_cast<double>(columns[1]) / y));
    if (stretch < least) {
      least = stretch;
      best = {x, y};
    }
  }
  return best;
}

std::vector<Tile> balanced_tiles(std::array<int, 2> columns, std::span<const uint32_t> weights, int ranks) {
  std::vector<Tile> tiles;
  bisect(AreaTable(columns, weights), {{0, 0}, columns}, ranks, tiles);
  return tiles;
}

double max_over_mean(std::array<int, 2> columns, std::span<const uint32_t> weights,
                     std::span<const Tile> tiles) {
  const AreaTable table(columns, weights);
  uint64_t most = 0, total = 0;
  for (const Tile& tile : tiles) {
    most = std::max(most, table.sum(tile));
    total += table.sum(tile);
  }
  if (total == 0) return 1;
  return static_cast<double>(most) * static_cast<double>(tiles.size()) / static_cast<double>(total);
}

}  // namespace neve::structured
