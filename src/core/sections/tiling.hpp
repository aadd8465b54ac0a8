// SPDX-License-Identifier: BSD-3-Clause
// How a frame's cells are shared out into sections. Encoder and decoder derive it from the layout
// alone, so it is part of the format: docs/format.md, "Tiles".
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
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
  Rect rect;                  // relative to the box
  Extents place{0, 0, 0, 0};  // of its first cell in the level's index space
  Extents box_size{1, 1, 1, 1};
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

// A tile without its list of rectangles: the whole of `boxes` boxes from first_box on, or pieces of
// first_box.
struct TileSpan {
  uint32_t first_box = 0;
  uint32_t boxes = 1;
  std::vector<Rect> pieces;  // empty: whole boxes
  int64_t cells = 0;

  bool holds(uint64_t box) const { return box >= first_box && box - first_box < boxes; }
};

// The tiles of a frame, from its boxes as they come. Takes memory for each tile, not for each box.
class TileSpans {
 public:
  TileSpans(const FrameShape& shape, TileRule rule) : shape_(shape), rule_(rule) {}

  void add(const Extents& box_size);
  void finish() { close(); }  // no more boxes follow
  uint64_t sections() const;

  struct Place {
    uint32_t component = 0;
    size_t tile = 0;
  };
  Place section(size_t number) const;
  const TileSpan& tile(size_t number) const { return tiles_[number]; }
  size_t size() const { return tiles_.size(); }
  // The first tile that holds any of the box.
  size_t first_of_box(uint64_t box) const;
  uint64_t memory_bytes() const;

 private:
  void add_range(uint32_t component, const Extents& box_size);
  void close();

  FrameShape shape_;
  TileRule rule_;
  uint32_t box_total_ = 0;
  TileSpan open_{0, 0, {}, 0};
  std::vector<TileSpan> tiles_;
  std::vector<uint32_t> components_;  // of each tile of a split frame; others share theirs
};

// Appends what the span has of one of its boxes, which lies at `box`.
void append_rects(const TileSpan& span, uint32_t number, const Rect& box, Tile& tile);

// The rectangles that cells [begin, end) of a box fall into, in order (x fastest): at most two partial ones
// per direction around a middle of whole slabs.
std::vector<Rect> rects_of_range(const Extents& size, int64_t begin, int64_t end);

}  // namespace neve
