// SPDX-License-Identifier: BSD-3-Clause
// Which boxes share a chunk, and where each box lies in the level's one dataset. Pure arithmetic on what all
// ranks know: every rank computes the chunks of every rank, and they agree without a message.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/amr/box_index.hpp"
#include "neve/frame.hpp"
#include "neve/hierarchy.hpp"

namespace neve::amr {

struct Chunk {
  int owner = 0;
  std::vector<int> boxes;    // in the order they lie in the chunk; one when is_split
  uint64_t elements = 0;     // held; the rest of the chunk is padding
  bool is_split = false;     // part of a box too large for one chunk
  uint64_t split_begin = 0;  // where in that box's elements (component after component) it begins
};

struct LevelChunks {
  uint64_t chunk_elements = 0;            // of every chunk of the level
  std::vector<Chunk> chunks;              // by rank, within a rank in Morton order
  std::vector<uint64_t> box_offsets;      // first element of each box in the dataset, by box
  std::vector<uint64_t> box_first_chunk;  // by box

  uint64_t dataset_elements() const { return chunk_elements * chunks.size(); }
};

// Neighbouring boxes of a rank share a chunk as long as they fit into `cap_elements`. A box above the cap
// gets chunks of its own: all but its last hold exactly chunk_elements, so its elements stay contiguous in
// the dataset. owner[box] says who holds a box. cap_elements must be at least 1.
LevelChunks chunk_level(const Level& level, int components, std::span<const int> owner,
                        uint64_t cap_elements);

// The frame that fills a chunk. `finer`: index over the next finer level's boxes, null on the finest.
// `ghosts`: layers that the hierarchy's boxes have in them, and those of the index do not; a finer level
// covers none.
FrameLayout chunk_layout(const Hierarchy& hierarchy, int level, const LevelChunks& chunks, size_t chunk,
                         const BoxIndex* finer, const IntVect& ghosts = {0, 0, 0});

// A box as a frame describes it, with the cells that the next finer level covers.
FrameBox frame_box(const Box& box, const IntVect& ghosts, const IntVect& ratio, const BoxIndex* finer);

}  // namespace neve::amr
