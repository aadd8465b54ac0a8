// SPDX-License-Identifier: BSD-3-Clause
// Boxes out of frames: only the chunks that hold a box are read, only its sections are decoded. Sections hold
// many boxes, so a component that is asked for again is decoded whole and kept for a while.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/amr/box_index.hpp"
#include "core/threads/scratch.hpp"
#include "io/hdf5/plotfile_header.hpp"
#include "io/hdf5/recent_boxes.hpp"
#include "neve/frame.hpp"
#include "neve/status.hpp"

namespace neve::hdf5 {

class FrameReader {
 public:
  // The header must outlive the reader.
  explicit FrameReader(const PlotfileHeader& header);

  // The values of one component of a box, and which of its cells the frames leave out (empty: none); the
  // ghost cells that stand around it in the dataset among them.
  Status read(size_t level, size_t box, int component, std::byte* out);
  Result<std::vector<uint8_t>> left_out(size_t level, size_t box, int component);
  // As PlotfileSource::expect_all.
  void expect_all();
  // Gives up all that is held of what was read.
  void forget();
  // False when another tool has written the chunks again through the filter: such frames know no boxes.
  Result<bool> knows_boxes(size_t level, size_t box);

 private:
  // A frame and the bytes it looks at. Shared, because a reader's frame may be evicted meanwhile.
  struct Loaded {
    size_t level = 0;
    uint64_t chunk = 0;
    std::vector<std::byte> bytes;
    Frame frame;
    mutable std::vector<bool> was_asked_for;  // by component

    uint64_t memory_bytes() const { return bytes.size() + frame.memory_bytes(); }
  };
  using LoadedPtr = std::shared_ptr<const Loaded>;

  // All boxes of one component of a frame, one after another.
  struct Decoded {
    LoadedPtr loaded;
    int component = 0;
    RawVector<std::byte> values;
  };

  struct Piece {
    LoadedPtr loaded;
    int box_in_frame = 0;
    uint64_t first_element = 0;  // of the box in the frame
  };

  std::string chunk_name(size_t level, uint64_t chunk) const;
  Box stored_box(size_t level, size_t box) const;

  // Decoded values of a coarser box, and which of its cells have none (empty: all have one).
  struct CoarserBox {
    RecentBoxes::Values values;
    RecentBoxes::Values left_out;
  };
  // What frames of `level` + 1 need.
  class Coarser;

  Result<CoarserBox> coarser_box(size_t level, size_t box, int component);
  // The boxes of a level that meet a region.
  std::vector<int> boxes_in(size_t level, const Box& region);

  Result<LoadedPtr> load(size_t level, uint64_t chunk);
  Result<std::vector<std::byte>> read_chunk_bytes(size_t level, uint64_t chunk) const;
  // What a chunk holds of a box; corrupt when its frame does not.
  Result<Piece> find_piece(size_t level, size_t box, uint64_t chunk);
  Result<Piece> look_for_piece(size_t level, size_t box, uint64_t chunk);
  // The values of a component, when it was asked for before and they can be kept; else null.
  const std::byte* decoded(const LoadedPtr& loaded, int component, const CoarserLevel* coarser);
  // The pieces that hold the component, in order.
  Result<std::vector<Piece>> pieces(size_t level, size_t box, int component);

  const PlotfileHeader& header_;
  bool expects_all_ = false;
  uint64_t max_recent_bytes_;
  uint64_t max_decoded_bytes_;
  // The piece that was found last: it serves all components of a box.
  struct LastPiece {
    size_t level, box;
    uint64_t chunk;
    Piece piece;
  };
  std::optional<LastPiece> last_;
  std::list<LoadedPtr> recent_;  // most recent first
  uint64_t recent_bytes_ = 0;
  std::list<Decoded> decoded_;  // most recent first
  uint64_t decoded_bytes_ = 0;
  std::vector<std::optional<amr::BoxIndex>> index_;  // by level, once asked for
  RecentBoxes coarser_values_;
  RecentBoxes coarser_left_out_;
};

}  // namespace neve::hdf5
