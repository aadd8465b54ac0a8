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

  uint64_t pieces() const;
  uint64_t bytes() const;
};

// Metadata before the first dataset. Where exactly it ends moves a handful of writes in a hundred thousand.
inline constexpr uint64_t first_dataset_address = 4096;

// How a hierarchy is laid out. A plot file has a dataset per level, a checkpoint one per component and level.
struct ValueLayout {
  IntVect ghosts{0, 0, 0};  // layers written around every box
  bool dataset_per_component = false;
};
FilePieces value_pieces(const Hierarchy& hierarchy, std::span<const std::vector<int>> owner, int ranks,
                        const ValueLayout& layout);

// Frames of at most chunk_bytes of values, `ratio` times smaller than those, of all levels. Ghosts and a
// layout of components have no meaning there.
FilePieces frame_pieces(const Hierarchy& hierarchy, std::span<const std::vector<int>> owner, int ranks,
                        uint64_t chunk_bytes, double ratio);

// One dataset of pieces of the sizes given (bytes, how many), mixed evenly in the file and dealt out in runs
// of like bytes. Usage error for no pieces, none of a byte or more than 2^28.
Result<FilePieces> pieces_of_sizes(std::span<const std::pair<uint64_t, uint64_t>> sizes, int ranks);

// The same pieces, each `ratio` times smaller: every box a frame of its own.
FilePieces shrunk_pieces(const FilePieces& file, double ratio);

}  // namespace neve::io_model
