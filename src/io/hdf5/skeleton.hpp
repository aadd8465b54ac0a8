// SPDX-License-Identifier: BSD-3-Clause
// The serial part of a parallel write: rank 0 writes every byte of an HDF5 file except the frames or values,
// and learns where the frames belong. Not collective, no MPI.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "io/hdf5/held_file.hpp"
#include "neve/checkpoint_reader.hpp"
#include "neve/hierarchy.hpp"
#include "neve/status.hpp"
#include "neve/types.hpp"

namespace neve::hdf5 {

// What is remembered of a field of a level, as attributes that `neve info` and people read.
struct FieldRecord {
  std::string name;
  Bound asked;
  double bound_abs = 0;
  double max_abs_error = 0;
  double range_min = 0, range_max = 0;
  uint64_t cells = 0, left_out_cells = 0, special_cells = 0, exact_cells = 0, stored_bytes = 0;
  std::optional<double> fill;  // what `verify` compares bit for bit
  std::string codec;
  std::string arrangement;  // "" in files of neve 0.1
  std::string chosen;       // likewise
  std::string covered;
};

struct LevelPlacement {
  bool compressed = true;             // false: one contiguous dataset; the next two do not count
  uint64_t chunk_elements = 0;        // of the level's one dataset
  std::vector<uint64_t> frame_bytes;  // by chunk index; every chunk has a frame
  // Where the frames lie, by chunk index, or where the contiguous dataset does; empty: HDF5 chooses.
  std::vector<uint64_t> addresses = {};
  std::vector<int64_t> box_offsets;  // boxes + 1, first element of each box in the dataset
  IntVect ghosts{0, 0, 0};           // layers around every box in the dataset
  std::vector<int32_t> processors;   // owner rank by box
  std::vector<FieldRecord> fields;
  // What was asked for of covered cells: "keep", "auto", "drop". Written of compressed plotfiles; "":
  // nothing.
  std::string covered;
};

// Frame addresses in the file, [level][chunk]; of an uncompressed level the address of its dataset.
using FrameAddresses = std::vector<std::vector<uint64_t>>;

// Writes the skeleton into `path`, which must exist (it is created through MPI with its hints first). The
// file is closed and complete but for the values when this returns.
// `data_end`: with addresses in all placements, where the last of the values ends. They may be there already:
// the skeleton lies before and behind them. 0: the file is emptied, and HDF5 chooses the addresses.
// `like`: an HDF5 plotfile of the same hierarchy whose attributes and objects beside the fields are taken
// over (carry_over.hpp); empty for none.
// `held`: with a data_end, takes the skeleton; the file, which must exist, is left alone.
Result<FrameAddresses> write_skeleton(const std::string& path, const Hierarchy& hierarchy,
                                      const std::vector<LevelPlacement>& levels, const std::string& like = {},
                                      uint64_t data_end = 0, HeldFile* held = nullptr);

// The same file without the levels' datasets, for a strategy that makes those itself.
Status write_description(const std::string& path, const Hierarchy& hierarchy,
                         const std::vector<LevelPlacement>& levels, const std::string& like = {});

struct VariablePlacement {
  Variable variable;
  std::vector<LevelPlacement> levels;  // field records of an uncompressed one are not written
};

// Addresses in a checkpoint, [variable][level][chunk]; uncompressed [variable][level][0].
using CheckpointAddresses = std::vector<FrameAddresses>;

// A checkpoint's skeleton, as write_skeleton.
Result<CheckpointAddresses> write_checkpoint_skeleton(const std::string& path, const Hierarchy& hierarchy,
                                                      const std::vector<VariablePlacement>& variables,
                                                      uint64_t data_end = 0, HeldFile* held = nullptr);

}  // namespace neve::hdf5
