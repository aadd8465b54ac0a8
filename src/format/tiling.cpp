// SPDX-License-Identifier: BSD-3-Clause
#include "format/tiling.hpp"

#include <algorithm>
#include <utility>

namespace neve {

namespace {

constexpr int64_t row_cut_weight = 16;

// Halve the longest side (the slower one when equal) until a piece is small enough.
Extents piece_size(const Extents& size) {
  Extents piece = size;
  while (piece[0] * piece[1] * piece[2] * piece[3] > tile_max_cells) {
    // Whole rows are what memory and kernels like: x is cut only when it is by far the longest.
    const auto weight = [&](int d) { return d == 0 ? piece[0] / row_cut_weight : piece[d]; };
    int longest = max_frame_dims - 1;
    for (int d = max_frame_dims - 2; d >= 0; --d) {
      if (weight(d) > weight(longest)) longest = d;
    }
    piece[longest] = (piece[longest] + 1) / 2;
  }
  return piece;
}

void cut_rect(const Rect& rect, std::vector<Rect>& out) {
  const Extents piece = piece_size(rect.size);
  for (int64_t w = 0; w < rect.size[3]; w += piece[3]) {
    for (int64_t z = 0; z < rect.size[2]; z += piece[2]) {
      for (int64_t y = 0; y < rect.size[1]; y += piece[1]) {
        for (int64_t x = 0; x < rect.size[0]; x += piece[0]) {
          const Extents at{x, y, z, w};
          Rect r;
          for (int d = 0; d < max_frame_dims; ++d) {
            r.lo[d] = rect.lo[d] + at[d];
            r.size[d] = std::min(piece[d], rect.size[d] - at[d]);
          }
          out.push_back(r);
        }
      }
    }
  }
}

// Cells [begin, end) of the slab `rect` spans in directions 0..dim, appended in order.
void append_range(const Rect& slab, int dim, int64_t begin, int64_t end, std::vector<Rect>& out) {
  if (begin >= end) return;
  int64_t below = 1;  // cells of one layer of direction `dim`
  for (int d = 0; d < dim; ++d) below *= slab.size[d];
  const auto layers = [&](int64_t first, int64_t count) {
    Rect r = slab;
    r.lo[dim] += first;
    r.size[dim] = count;
    return r;
  };
  if (dim == 0) {
    out.push_back(layers(begin, end - begin));
    return;
  }
  const int64_t first = begin / below;
  const int64_t last = end / below;
  if (first == last) {
    append_range(layers(first, 1), dim - 1, begin - first * below, end - first * below, out);
    return;
  }
  int64_t whole = first;
  if (begin > first * below) {
    append_range(layers(first, 1), dim - 1, begin - first * below, below, out);
    whole = first + 1;
  }
  if (last > whole) out.push_back(layers(whole, last - whole));
  append_range(layers(last, 1), dim - 1, 0, end - last * below, out);
}

// Tiles as they fill up.
class TileList {
 public:
  void add(const TileRect& rect) {
    open_.rects.push_back(rect);
    open_.cells += rect.rect.cells();
  }
  int64_t open_cells() const { return open_.cells; }
  void close() {
    if (!open_.rects.empty()) tiles_.push_back(std::make_shared<const Tile>(std::move(open_)));
    open_ = {};
  }
  std::vector<std::shared_ptr<const Tile>> take() {
    close();
    return std::move(tiles_);
  }

 private:
  Tile open_;
  std::vector<std::shared_ptr<const Tile>> tiles_;
};

}  // namespace

std::vector<Rect> rects_of_range(const Extents& size, int64_t begin, int64_t end) {
  std::vector<Rect> out;
  append_range(Rect{{0, 0, 0, 0}, size}, max_frame_dims - 1, begin, end, out);
  return out;
}

std::vector<Section> make_sections(const FrameLayout& layout, TileRule rule) {
  std::vector<Section> sections;
  if (layout.is_split) {
    const int64_t cells = layout.boxes[0].cells();
    const auto begin = static_cast<int64_t>(layout.stream_begin);
    const auto end = begin + static_cast<int64_t>(layout.stream_count);
    for (int c = 0; c < layout.components; ++c) {
      const int64_t from = std::clamp<int64_t>(begin - c * cells, 0, cells);
      const int64_t to = std::clamp<int64_t>(end - c * cells, 0, cells);
      if (from == to) continue;
      // The partial layers at both ends are thin: they share the tile of the whole layers when it is small.
      TileList tiles;
      std::vector<Rect> pieces;
      for (const Rect& r : rects_of_range(layout.boxes[0].size, from, to)) cut_rect(r, pieces);
      for (const Rect& r : pieces) {
        if (tiles.open_cells() + r.cells() > tile_max_cells) tiles.close();
        tiles.add({0, r});
      }
      for (const auto& tile : tiles.take()) sections.push_back({static_cast<uint32_t>(c), tile});
    }
    return sections;
  }

  TileList list;
  for (uint32_t b = 0; b < layout.boxes.size(); ++b) {
    const Rect whole{{0, 0, 0, 0}, layout.boxes[b].size};
    const int64_t cells = whole.cells();
    if (cells > tile_max_cells) {
      std::vector<Rect> pieces;
      cut_rect(whole, pieces);
      for (const Rect& r : pieces) {
        list.close();
        list.add({b, r});
      }
      list.close();
      continue;
    }
    if (list.open_cells() + cells > tile_max_cells) list.close();
    list.add({b, whole});
    if (rule == TileRule::small && list.open_cells() >= tile_gather_cells) list.close();
  }
  const std::vector<std::shared_ptr<const Tile>> tiles = list.take();
  for (int c = 0; c < layout.components; ++c) {
    for (const auto& tile : tiles) sections.push_back({static_cast<uint32_t>(c), tile});
  }
  return sections;
}

}  // namespace neve
