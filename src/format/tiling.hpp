// SPDX-License-Identifier: BSD-3-Clause
// How a frame's cells are shared out into sections. Encoder and decoder derive it from the layout
// alone, so it is part of the format: docs/format.md, "Tiles".
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "neve/frame.hpp"

namespace neve {

// Small boxes gather in a tile until it has this many cells: enough to pay for a section's own sizes
// and checksum, few enough that reading one box does not decode the whole chunk.
inline constexpr int64_t tile_gather_cells = int64_t{1} << 16;
// No tile is larger: bounds a decoder's working memory, and what one section's bytes can claim.
inline constexpr int64_t tile_max_cells = int64_t{1} << 21;

struct TileRect {
  uint32_t box = 0;
  Rect rect;  // relative to the box
};

struct Tile {
  std::vector<TileRect> rects;
  int64_t cells = 0;
};

// One component's share of a tile; the unit that is coded, checked and read alone. Components share their
// tiles: a list of each one's own would let a short header with many boxes and components claim any amount of
// memory.
struct Section {
  uint32_t component = 0;
  std::shared_ptr<const Tile> tile;

  const std::vector<TileRect>& rects() const { return tile->rects; }
  int64_t cells() const { return tile->cells; }
};

// When a tile of several boxes is full. Frames whose sections have arrangements gather up to tile_max_cells:
// prediction across boxes, and codecs that look far, want many boxes at once.
enum class TileRule { small, large };

// All sections in file order: component by component, tile by tile.
std::vector<Section> make_sections(const FrameLayout& layout, TileRule rule = TileRule::small);

// The rectangles that cells [begin, end) of a box fall into, in order (x fastest): at most two partial ones
// per direction around a middle of whole slabs.
std::vector<Rect> rects_of_range(const Extents& size, int64_t begin, int64_t end);

}  // namespace neve
