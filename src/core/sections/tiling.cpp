// SPDX-License-Identifier: BSD-3-Clause
#include "core/sections/tiling.hpp"

#include <algorithm>
#include <utility>

#include "core/sections/visit_cells.hpp"

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
  visit_pieces(rect.size, piece_size(rect.size), [&](Rect piece) {
    for (size_t d = 0; d < max_frame_dims; ++d) piece.lo[d] += rect.lo[d];
    out.push_back(piece);
  });
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

}  // namespace

void append_rects(const TileSpan& span, uint32_t number, const Rect& box, Tile& tile) {
  const auto append = [&](const Rect& rect) {
    TileRect added{number, rect, box.lo, box.size};
    for (size_t d = 0; d < max_frame_dims; ++d) added.place[d] += rect.lo[d];
    tile.rects.push_back(added);
    tile.cells += rect.cells();
  };
  for (const Rect& piece : span.pieces) append(piece);
  if (span.pieces.empty()) append({{0, 0, 0, 0}, box.size});
}

std::vector<Rect> rects_of_range(const Extents& size, int64_t begin, int64_t end) {
  std::vector<Rect> out;
  append_range(Rect{{0, 0, 0, 0}, size}, max_frame_dims - 1, begin, end, out);
  return out;
}

void TileSpans::close() {
  if (open_.cells == 0) return;
  open_.pieces.shrink_to_fit();
  tiles_.push_back(std::move(open_));
  open_ = {box_total_, 0, {}, 0};
}

void TileSpans::add(const Extents& box_size) {
  if (shape_.is_split) {
    for (int c = 0; c < shape_.components; ++c) add_range(static_cast<uint32_t>(c), box_size);
    ++box_total_;
    return;
  }
  const Rect whole{{0, 0, 0, 0}, box_size};
  const int64_t cells = whole.cells();
  if (cells > tile_max_cells) {
    close();
    std::vector<Rect> pieces;
    cut_rect(whole, pieces);
    for (const Rect& piece : pieces) tiles_.push_back({box_total_, 1, {piece}, piece.cells()});
    open_ = {++box_total_, 0, {}, 0};
    return;
  }
  if (open_.cells + cells > tile_max_cells) close();
  ++open_.boxes;
  open_.cells += cells;
  ++box_total_;
  if (rule_ == TileRule::small && open_.cells >= tile_gather_cells) close();
}

// What a split frame holds of a component. The partial layers at both ends are thin: they share the tile of
// the whole layers when it is small.
void TileSpans::add_range(uint32_t component, const Extents& box_size) {
  const int64_t cells = Rect{{0, 0, 0, 0}, box_size}.cells();
  const auto begin = static_cast<int64_t>(shape_.split_begin);
  const int64_t end = begin + static_cast<int64_t>(shape_.split_count);
  const int64_t from = std::clamp<int64_t>(begin - component * cells, 0, cells);
  const int64_t to = std::clamp<int64_t>(end - component * cells, 0, cells);
  if (from == to) return;
  std::vector<Rect> pieces;
  for (const Rect& range : rects_of_range(box_size, from, to)) cut_rect(range, pieces);
  for (const Rect& piece : pieces) {
    if (open_.cells + piece.cells() > tile_max_cells) close();
    open_.boxes = 1;
    open_.cells += piece.cells();
    open_.pieces.push_back(piece);
  }
  close();
  components_.resize(tiles_.size(), component);
}

uint64_t TileSpans::sections() const {
  return shape_.is_split ? tiles_.size() : tiles_.size() * static_cast<uint64_t>(shape_.components);
}

TileSpans::Place TileSpans::section(size_t number) const {
  if (shape_.is_split) return {components_[number], number};
  return {static_cast<uint32_t>(number / tiles_.size()), number % tiles_.size()};
}

size_t TileSpans::first_of_box(uint64_t box) const {
  const auto found = std::partition_point(tiles_.begin(), tiles_.end(), [box](const TileSpan& tile) {
    return uint64_t{tile.first_box} + tile.boxes <= box;
  });
  return static_cast<size_t>(found - tiles_.begin());
}

uint64_t TileSpans::memory_bytes() const {
  uint64_t bytes = tiles_.capacity() * sizeof(TileSpan) + components_.capacity() * sizeof(uint32_t);
  for (const TileSpan& tile : tiles_) bytes += tile.pieces.capacity() * sizeof(Rect);
  return bytes;
}

std::vector<Section> make_sections(const FrameLayout& layout, TileRule rule) {
  TileSpans spans(layout, rule);
  for (const FrameBox& box : layout.boxes) spans.add(box.size);
  spans.finish();
  std::vector<std::shared_ptr<const Tile>> tiles;
  for (size_t t = 0; t < spans.size(); ++t) {
    const TileSpan& span = spans.tile(t);
    Tile tile;
    for (uint32_t b = span.first_box; b - span.first_box < span.boxes; ++b) {
      const FrameBox& box = layout.boxes[b];
      append_rects(span, b, {box.lo, box.size}, tile);
    }
    tiles.push_back(std::make_shared<const Tile>(std::move(tile)));
  }
  std::vector<Section> sections;
  for (size_t s = 0; s < spans.sections(); ++s) {
    const TileSpans::Place place = spans.section(s);
    sections.push_back({place.component, tiles[place.tile]});
  }
  return sections;
}

}  // namespace neve
