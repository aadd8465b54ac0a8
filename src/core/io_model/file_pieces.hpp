// SPDX-License-Identifier: BSD-3-Clause
// What a file consists of for those who write it: datasets, pieces in them, and which rank holds each.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "neve/hierarchy.hpp"
#include "neve/status.hpp"

namespace neve::io_model {

// Pieces lie end to end in file order; a piece is a box or, compressed, a frame.
struct Dataset {
  uint64_t begin = 0;  // in the file
  std::vector<uint64_t> piece_bytes;
  std::vector<int> owner;  // rank, by piece
};

struct FilePieces {
  int ranks = 1;
  std::vector<Dataset> datasets;
  uint64_t metadata_writes = 0;  // small ones, by one rank: attributes, boxes, offsets

  uint64_t pieces() const;
  uint64_t bytes() const;
};

// Boxes of one file. A plan for so many takes some seconds and some hundred megabytes.
inline constexpr uint64_t max_boxes = 1'000'000;

// Metadata before the first dataset. Where exactly it ends moves a handful of writes in a hundred thousand.
inline constexpr uint64_t first_dataset_address = 4096;

// Of what one dataset of a level consists: of the components of every cell of its boxes and of the layers of
// ghosts around them.
struct DatasetLayout {
  int components = 1;
  IntVect ghosts{0, 0, 0};
};
// Level by level the datasets that `layouts` says, of values of the hierarchy's type. A plot file has one a
// level, a checkpoint one for each variable.
FilePieces value_pieces(const Hierarchy& hierarchy, std::span<const std::vector<int>> owner, int ranks,
                        std::span<const DatasetLayout> layouts);

// Frames of at most chunk_bytes of values, `ratio` times smaller than those, of all levels. Ghosts and a
// layout of components have no meaning there.
FilePieces frame_pieces(const Hierarchy& hierarchy, std::span<const std::vector<int>> owner, int ranks,
                        uint64_t chunk_bytes, double ratio);

// One dataset of pieces of the sizes given (bytes, how many), mixed evenly in the file and dealt out in runs
// of like bytes. Usage error for no pieces, one of no byte or more than 4e6 of them.
Result<FilePieces> pieces_of_sizes(std::span<const std::pair<uint64_t, uint64_t>> sizes, int ranks);

// The same pieces, each `ratio` times smaller: every box a frame of its own.
FilePieces shrunk_pieces(const FilePieces& file, double ratio);

}  // namespace neve::io_model
