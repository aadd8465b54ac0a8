// SPDX-License-Identifier: BSD-3-Clause
#include "core/format/regions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <span>

#include "core/catalog/choices.hpp"
#include "core/sections/visit_cells.hpp"

namespace neve {

namespace {

// A region in place may have this many cells for each that lies in a box: more holes join more boxes, and
// cost time.
constexpr int64_t max_cells_per_box_cell = 2;
// Products of sides stop here, so that two of them still have a sum.
constexpr int64_t saturated_cells = int64_t{1} << 61;

int64_t saturated_product(const Extents& size) {
  int64_t product = 1;
  for (const int64_t side : size) {
    if (side > saturated_cells / product) return saturated_cells;
    product *= side;
  }
  return product;
}

Region whole_rect(const Tile& tile, uint32_t number) {
  Region region;
  region.size = tile.rects[number].rect.size;
  region.parts.push_back({number, {{0, 0, 0, 0}, region.size}, {0, 0, 0, 0}});
  return region;
}

// Marks all cells as holes but those of the parts. Returns how many cells the parts have together, each
// counted once.
int64_t mark_holes(Region& region) {
  region.holes.assign(static_cast<size_t>(region.cells()), 1);
  for (const RegionPart& part : region.parts) {
    visit_row_begins({part.to, part.from.size}, dense_strides(region.size), [&](int64_t row) {
      std::memset(region.holes.data() + row, 0, static_cast<size_t>(part.from.size[0]));
    });
  }
  return region.cells() - count_marked(region.holes);
}

// The largest blocks that the region and all its parts are made of.
Extents common_block(const Region& region) {
  Extents block = region.size;
  for (const RegionPart& part : region.parts) {
    for (size_t d = 0; d < max_frame_dims; ++d) {
      block[d] = std::gcd(block[d], std::gcd(part.to[d], part.from.size[d]));
    }
  }
  return block;
}

// As mark_holes, but marks no cells where there is no hole. Boxes are mostly made of blocks of 8 cells a
// side: of these there are few enough to count them first.
int64_t dig_holes(Region& region) {
  const Extents block = common_block(region);
  const int64_t block_cells = saturated_product(block);
  if (block_cells == 1) return mark_holes(region);
  Region of_blocks;
  of_blocks.parts = region.parts;
  for (size_t d = 0; d < max_frame_dims; ++d) {
    of_blocks.size[d] = region.size[d] / block[d];
    for (RegionPart& part : of_blocks.parts) {
      part.to[d] /= block[d];
      part.from.size[d] /= block[d];
    }
  }
  const int64_t held = mark_holes(of_blocks) * block_cells;
  if (held < region.cells()) mark_holes(region);
  return held;
}

// --- unit blocks --------------------------------------------------------------------------------------

// Calls visit(rect number, block relative to the rectangle) for each unit block of the tile.
template <class Visit>
void visit_unit_blocks(int ndim, const Tile& tile, int unit_cells, const Visit& visit) {
  for (uint32_t r = 0; r < tile.rects.size(); ++r) {
    const Extents& size = tile.rects[r].rect.size;
    Extents unit = size;
    for (int d = 0; d < ndim; ++d) unit[d] = std::min<int64_t>(size[d], unit_cells);
    visit_pieces(size, unit, [&](const Rect& block) { visit(r, block); });
  }
}

std::vector<Region> unit_regions(int ndim, const Tile& tile, int unit_cells) {
  std::vector<Region> regions;
  visit_unit_blocks(ndim, tile, unit_cells, [&](uint32_t r, const Rect& block) {
    Region region;
    region.size = block.size;
    region.parts.push_back({r, block, {0, 0, 0, 0}});
    regions.push_back(std::move(region));
  });
  return regions;
}

// Sides, in blocks, of the most cubic rectangle for `blocks` of them: along x the smallest k with
// k^ndim >= blocks, and likewise in turn for what is left of them in the directions after it.
Extents cluster_sides(int64_t blocks, int ndim) {
  Extents sides{1, 1, 1, 1};
  for (int d = 0; d < ndim; ++d) {
    const auto power = [&](int64_t k) {
      int64_t product = 1;
      for (int e = d; e < ndim && product < blocks; ++e) product *= k;
      return product;
    };
    while (power(sides[d]) < blocks) ++sides[d];
    blocks = (blocks + sides[d] - 1) / sides[d];
  }
  return sides;
}

std::vector<Region> cluster_regions(int ndim, const Tile& tile, int unit_cells) {
  std::vector<Region> regions(1);
  std::vector<RegionPart> stacked;
  visit_unit_blocks(ndim, tile, unit_cells, [&](uint32_t r, const Rect& block) {
    const bool is_full = std::all_of(block.size.begin(), block.size.begin() + ndim,
                                     [&](int64_t side) { return side == unit_cells; });
    if (is_full) {
      stacked.push_back({r, block, {0, 0, 0, 0}});
      return;
    }
    Region region;
    region.size = block.size;
    region.parts.push_back({r, block, {0, 0, 0, 0}});
    regions.push_back(std::move(region));
  });
  if (stacked.empty()) {
    regions.erase(regions.begin());
    return regions;
  }
  const Extents sides = cluster_sides(static_cast<int64_t>(stacked.size()), ndim);
  Region& cluster = regions[0];
  for (int d = 0; d < ndim; ++d) cluster.size[d] = sides[d] * unit_cells;
  for (size_t number = 0; number < stacked.size(); ++number) {
    auto rest = static_cast<int64_t>(number);
    for (int d = 0; d < ndim; ++d) {
      stacked[number].to[d] = rest % sides[d] * unit_cells;
      rest /= sides[d];
    }
  }
  cluster.parts = std::move(stacked);
  if (dig_holes(cluster) == cluster.cells()) cluster.holes = {};
  return regions;
}

// --- in place -----------------------------------------------------------------------------------------

// A rectangle of the level's index space.
struct Bounds {
  Extents lo;
  Extents end;

  void merge(const Bounds& other) {
    for (size_t d = 0; d < max_frame_dims; ++d) {
      lo[d] = std::min(lo[d], other.lo[d]);
      end[d] = std::max(end[d], other.end[d]);
    }
  }
  Extents size() const { return {end[0] - lo[0], end[1] - lo[1], end[2] - lo[2], end[3] - lo[3]}; }
};

class InPlace {
 public:
  explicit InPlace(const Tile& tile) : tile_(tile) {
    places_.reserve(tile.rects.size());
    for (const TileRect& rect : tile.rects) {
      Bounds place{rect.place, {}};
      for (size_t d = 0; d < max_frame_dims; ++d) place.end[d] = place.lo[d] + rect.rect.size[d];
      places_.push_back(place);
    }
  }

  std::vector<Region> run() {
    std::vector<uint32_t> all(tile_.rects.size());
    std::iota(all.begin(), all.end(), 0U);
    divide(all);
    return std::move(regions_);
  }

 private:
  // Each half has at least a quarter of the rectangles, so the depth follows the logarithm of their number.
  void divide(std::span<uint32_t> rects) {
    if (rects.size() == 1) {
      regions_.push_back(whole_rect(tile_, rects[0]));
      regions_.back().lo = places_[rects[0]].lo;
      return;
    }
    Bounds bounds = places_[rects[0]];
    int64_t cells = 0;
    for (const uint32_t r : rects) {
      bounds.merge(places_[r]);
      cells += tile_.rects[r].rect.cells();
    }
    if (saturated_product(bounds.size()) <= max_cells_per_box_cell * cells && join(rects, bounds, cells)) {
      return;
    }
    const Extents size = bounds.size();
    size_t longest = max_frame_dims - 1;
    for (size_t d = max_frame_dims - 1; d-- > 0;) {
      if (size[d] > size[longest]) longest = d;
    }
    std::stable_sort(rects.begin(), rects.end(),
                     [&](uint32_t a, uint32_t b) { return places_[a].lo[longest] < places_[b].lo[longest]; });
    const size_t cut = best_cut(rects);
    divide(rects.first(cut));
    divide(rects.subspan(cut));
  }

  // Makes the rectangles one region; not if they overlap.
  bool join(std::span<const uint32_t> rects, const Bounds& bounds, int64_t cells) {
    Region region;
    region.lo = bounds.lo;
    region.size = bounds.size();
    for (const uint32_t r : rects) {
      RegionPart part{r, {{0, 0, 0, 0}, tile_.rects[r].rect.size}, places_[r].lo};
      for (size_t d = 0; d < max_frame_dims; ++d) part.to[d] -= bounds.lo[d];
      region.parts.push_back(part);
    }
    if (dig_holes(region) != cells) return false;
    if (cells == region.cells()) region.holes = {};
    regions_.push_back(std::move(region));
    return true;
  }

  // Where the two bounding boxes are smallest together; of equal cuts the one nearest the middle.
  size_t best_cut(std::span<const uint32_t> rects) const {
    const size_t n = rects.size();
    std::vector<int64_t> behind(n);  // cells of the bounding box of rectangles i to the end
    Bounds bounds = places_[rects[n - 1]];
    for (size_t i = n; i-- > 0;) {
      bounds.merge(places_[rects[i]]);
      behind[i] = saturated_product(bounds.size());
    }
    const size_t margin = std::max<size_t>(1, n / 4);
    const auto off_middle = [n](size_t i) { return 2 * i > n ? 2 * i - n : n - 2 * i; };
    size_t best = 0;
    int64_t best_cells = 0;
    bounds = places_[rects[0]];
    for (size_t i = 1; i <= n - margin; ++i) {
      if (i > 1) bounds.merge(places_[rects[i - 1]]);
      if (i < margin) continue;
      const int64_t cells = saturated_product(bounds.size()) + behind[i];
      if (best == 0 || cells < best_cells || (cells == best_cells && off_middle(i) < off_middle(best))) {
        best = i;
        best_cells = cells;
      }
    }
    return best;
  }

  const Tile& tile_;
  std::vector<Bounds> places_;
  std::vector<Region> regions_;
};

// Cells around a region that only the coarser level knows: interpolation to its outermost cells, which would
// extrapolate, finds cells on both sides. An even number below leaves the classes of cells what they are
// without; measured on Nyx z = 7 and z = 10, 2 and 3 save twice what the holes alone do, more adds little.
constexpr int64_t cells_below = 2;
constexpr int64_t cells_above = 3;
// A region that would become more than so many times as large has none: a margin of many scattered cells
// costs memory that their bytes have not paid for.
constexpr int64_t max_cells_with_margin = 8;

std::vector<Region> nested_regions(int ndim, const Tile& tile) {
  std::vector<Region> regions = InPlace(tile).run();
  for (Region& region : regions) {
    Extents grown = region.size;
    for (int d = 0; d < ndim; ++d) grown[d] += cells_below + cells_above;
    if (saturated_product(grown) > max_cells_with_margin * region.cells()) continue;
    region.size = grown;
    for (int d = 0; d < ndim; ++d) {
      region.lo[d] -= cells_below;
      for (RegionPart& part : region.parts) part.to[d] += cells_below;
    }
    dig_holes(region);
  }
  return regions;
}

}  // namespace

int64_t count_marked(std::span<const uint8_t> mask) {
  // Bytes of a word add up side by side, up to 255 times.
  constexpr size_t word_bytes = sizeof(uint64_t);
  constexpr size_t max_words = 255;
  int64_t sum = 0;
  size_t i = 0;
  while (mask.size() - i >= word_bytes) {
    const size_t words = std::min(max_words, (mask.size() - i) / word_bytes);
    uint64_t sums = 0;
    for (size_t k = 0; k < words; ++k, i += word_bytes) {
      uint64_t word;
      std::memcpy(&word, mask.data() + i, word_bytes);
      sums += word;
    }
    for (; sums > 0; sums >>= 8) sum += static_cast<int64_t>(sums & 0xff);
  }
  for (; i < mask.size(); ++i) sum += mask[i];
  return sum;
}

const std::vector<Region>& RegionCache::of(const Tile& tile, const SectionArrangement& arrangement) {
  const int key = static_cast<int>(arrangement.arrangement) << 8 | arrangement.unit_cells;
  Entry* entry = nullptr;
  {
    const std::lock_guard lock(mutex_);
    auto& held = entries_[{&tile, key}];
    if (held == nullptr) held = std::make_unique<Entry>();
    entry = held.get();
  }
  std::call_once(entry->made, [&] { entry->regions = make_regions(ndim_, tile, arrangement); });
  return entry->regions;
}

Status check_arrangement(const SectionArrangement& arrangement) {
  const int unit = arrangement.unit_cells;
  if (arrangement.arrangement > Arrangement::nested) {
    return corrupt(
        fmt::format("arrangement {} unknown to this version", static_cast<int>(arrangement.arrangement)));
  }
  if (!is_side(unit, unit_sides)) {
    return corrupt(fmt::format("unit blocks of {} cells, must be 0, {}", unit, joined(unit_sides, " or ")));
  }
  if ((arrangement.arrangement == Arrangement::cluster && unit == 0) ||
      (arrangement.arrangement >= Arrangement::in_place && unit != 0)) {
    return corrupt(fmt::format("arrangement {} with unit blocks of {} cells",
                               arrangement_name(arrangement.arrangement), unit));
  }
  return {};
}

std::vector<Region> make_regions(int ndim, const Tile& tile, const SectionArrangement& arrangement) {
  switch (arrangement.arrangement) {
    case Arrangement::cluster:
      return cluster_regions(ndim, tile, arrangement.unit_cells);
    case Arrangement::in_place:
      return InPlace(tile).run();
    case Arrangement::nested:
      return nested_regions(ndim, tile);
    case Arrangement::linear:
    case Arrangement::automatic:
      break;
  }
  if (arrangement.unit_cells > 0) return unit_regions(ndim, tile, arrangement.unit_cells);
  std::vector<Region> regions;
  for (uint32_t r = 0; r < tile.rects.size(); ++r) regions.push_back(whole_rect(tile, r));
  return regions;
}

}  // namespace neve
