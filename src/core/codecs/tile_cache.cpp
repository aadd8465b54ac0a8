// SPDX-License-Identifier: BSD-3-Clause
#include "core/codecs/tile_cache.hpp"

#include <algorithm>

namespace neve {

void TileCache::prepare(PreparedTile& prepared) const {
  const TileSpan& span = header_.tiles.tile(prepared.number);
  const size_t rects = std::max<size_t>(span.boxes, span.pieces.size());
  prepared.tile.rects.reserve(rects);
  prepared.first_element.reserve(rects);
  header_.box_table.visit(span.first_box, span.boxes, [&](const BoxRecord& box) {
    append_rects(span, box.number, box.place, prepared.tile);
    prepared.first_element.resize(prepared.tile.rects.size(), box.first_element);
  });
}

std::shared_ptr<PreparedTile> TileCache::of(size_t number) {
  const std::lock_guard lock(mutex_);
  const auto known = std::find_if(tiles_.begin(), tiles_.end(),
                                  [number](const auto& tile) { return tile->number == number; });
  if (known != tiles_.end()) {
    std::rotate(known, known + 1, tiles_.end());
    return tiles_.back();
  }
  if (tiles_.size() >= max_) tiles_.erase(tiles_.begin());
  auto prepared = std::make_shared<PreparedTile>(number, header_.shape.ndim);
  prepare(*prepared);
  tiles_.push_back(prepared);
  return prepared;
}

std::vector<uint8_t> TileCache::covered(const PreparedTile& prepared, uint32_t component) {
  const TileSpan& span = header_.tiles.tile(prepared.number);
  std::vector<uint8_t> marks;
  size_t begin = 0;  // of the box's cells in the tile
  header_.box_table.visit(span.first_box, span.boxes, [&](const BoxRecord& box) {
    if (box.covered > 0) {
      marks.resize(static_cast<size_t>(span.cells));
      if (span.pieces.empty()) {
        const Rect whole{{0, 0, 0, 0}, box.place.size};
        box.visit_covered([&](const Rect& rect) { mark_covered(rect, whole, marks.data() + begin); });
      } else {
        const std::shared_ptr<const CoveredBits> bits = bits_of(box, component);
        for (const Rect& piece : span.pieces) {
          bits->copy(piece, marks.data() + begin);
          begin += static_cast<size_t>(piece.cells());
        }
      }
    }
    begin += static_cast<size_t>(box.cells());
  });
  return marks;
}

std::shared_ptr<const CoveredBits> TileCache::bits_of(const BoxRecord& box, uint32_t component) {
  const FrameShape& shape = header_.shape;
  const std::lock_guard lock(mutex_);
  // A split frame holds another range of each component's cells, any other all.
  const uint32_t key = shape.is_split ? component : 0;
  if (cut_box_.bits && cut_box_.box == box.number && cut_box_.component == key) return cut_box_.bits;
  int64_t begin = 0;
  int64_t end = box.cells();
  if (shape.is_split) {
    const int64_t first = static_cast<int64_t>(shape.split_begin) - component * box.cells();
    begin = std::clamp<int64_t>(first, 0, box.cells());
    end = std::clamp<int64_t>(first + static_cast<int64_t>(shape.split_count), 0, box.cells());
  }
  cut_box_ = {box.number, key, std::make_shared<const CoveredBits>(box, begin, end)};
  return cut_box_.bits;
}

}  // namespace neve
