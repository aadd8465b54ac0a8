// SPDX-License-Identifier: BSD-3-Clause
// The lists of the tiles that are being decoded: rectangles, regions, covered cells. As few tiles as there
// are threads, since lists of tiny boxes are larger than their values.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "core/codecs/covered_cells.hpp"
#include "core/format/frame_header.hpp"
#include "core/format/regions.hpp"

namespace neve {

struct PreparedTile {
  PreparedTile(size_t of_number, int ndim) : number(of_number), regions(ndim) {}

  size_t number;
  Tile tile;
  std::vector<uint64_t> first_element;  // of each rectangle's box
  RegionCache regions;
};

// Of one frame, whose header must outlive it. Thread-safe.
class TileCache {
 public:
  TileCache(const ParsedHeader& header, size_t max_tiles) : header_(header), max_(max_tiles) {}

  std::shared_ptr<PreparedTile> of(size_t tile);
  // A mark for each cell of the tile, 1: covered; empty where no rectangle of the header's has any of them.
  std::vector<uint8_t> covered(const PreparedTile& tile, uint32_t component);

 private:
  // The covered cells of a box that is cut into pieces.
  struct CutBox {
    uint32_t box = 0;
    uint32_t component = 0;
    std::shared_ptr<const CoveredBits> bits;
  };

  void prepare(PreparedTile& tile) const;
  std::shared_ptr<const CoveredBits> bits_of(const BoxRecord& box, uint32_t component);

  const ParsedHeader& header_;
  size_t max_;
  std::mutex mutex_;
  std::vector<std::shared_ptr<PreparedTile>> tiles_;  // the last one used at the end
  CutBox cut_box_;                                    // the last one asked for
};

}  // namespace neve
