// SPDX-License-Identifier: BSD-3-Clause
// The rectangles that a codec sees of a tile under each arrangement. Encoder and decoder derive them from the
// layout alone, so they are part of the format: docs/format.md, "Arrangements".
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

#include "core/sections/tiling.hpp"
#include "neve/frame.hpp"

namespace neve {

struct SectionArrangement {
  Arrangement arrangement = Arrangement::linear;
  int unit_cells = 0;  // side of the unit blocks; 0: none

  bool operator==(const SectionArrangement&) const = default;
};

// Whether a section may have it. Errors: corrupt.
Status check_arrangement(const SectionArrangement& arrangement);

// A stretch of one of the tile's rectangles, and its place in a region.
struct RegionPart {
  uint32_t rect = 0;
  Rect from;  // relative to the tile's rectangle
  Extents to{0, 0, 0, 0};
};

// A rectangle as a codec sees it. Its cells are those of its parts, which do not overlap, and holes.
struct Region {
  Extents lo{0, 0, 0, 0};  // its place in the level's index space; only in place and nested
  Extents size{1, 1, 1, 1};
  std::vector<RegionPart> parts;
  std::vector<uint8_t> holes;  // a byte per cell, x fastest, 1: a hole; empty: there is none

  int64_t cells() const { return size[0] * size[1] * size[2] * size[3]; }
  // One part that fills it: its cells need not be moved.
  bool is_view() const { return parts.size() == 1 && parts[0].from.size == size; }
};

// How many cells of a mask are 1; all others are 0.
int64_t count_marked(std::span<const uint8_t> mask);

// Regions of a tile in the order in which codecs go through them. Every cell of the tile is in one, and
// together they have at most twice the tile's cells; nested ones eight times that, with their margins.
std::vector<Region> make_regions(int ndim, const Tile& tile, const SectionArrangement& arrangement);

// Makes the regions of each tile once: an encoder asks for them for every component. Thread-safe.
class RegionCache {
 public:
  explicit RegionCache(int ndim) : ndim_(ndim) {}
  const std::vector<Region>& of(const Tile& tile, const SectionArrangement& arrangement);

 private:
  struct Entry {
    std::once_flag made;
    std::vector<Region> regions;
  };

  int ndim_;
  std::mutex mutex_;
  std::map<std::pair<const Tile*, int>, std::unique_ptr<Entry>> entries_;
};

}  // namespace neve
