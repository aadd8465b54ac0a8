// SPDX-License-Identifier: BSD-3-Clause
// Uncompressed files: where the values of every box go, and where they lie in memory.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "io/hdf5/skeleton.hpp"
#include "neve/hierarchy.hpp"
#include "neve/plotfile_writer.hpp"
#include "parallel/file/call_types.hpp"
#include "parallel/file/write_pieces.hpp"
#include "parallel/write/ownership.hpp"

namespace neve::mpi {

// First elements of the boxes in their level's dataset, and its end: in the order of the boxes, each with its
// ghosts and all components, without gaps.
std::vector<int64_t> value_offsets(const Level& level, const IntVect& ghosts, size_t components);

// Not collective. Usage error where a box has fewer layers of ghost cells than are to be written.
Status check_ghosts_held(std::span<const LocalBox> owned, const IntVect& ghosts);

// The report of a file that holds every value as it is; the same on every rank without a message.
WriteReport report_values(const Hierarchy& hierarchy, const IntVect& ghosts);

// This rank's boxes of a dataset that begins at `address`.
void append_pieces(const Hierarchy& hierarchy, int level, const IntVect& ghosts, size_t components,
                   std::span<const LocalBox> owned, uint64_t address, uint32_t dataset,
                   std::vector<Piece>& pieces);

// Where each level's dataset begins, one after another without gaps; the same on every rank without a
// message.
struct ValuePlaces {
  std::vector<uint64_t> addresses;
  uint64_t end = 0;
};
ValuePlaces place_values(const Hierarchy& hierarchy, const IntVect& ghosts, uint64_t begin);

// What the file's structure says of those datasets.
std::vector<hdf5::LevelPlacement> value_placements(const Hierarchy& hierarchy, const Ownership& owners,
                                                   const IntVect& ghosts, const ValuePlaces& places);

}  // namespace neve::mpi
