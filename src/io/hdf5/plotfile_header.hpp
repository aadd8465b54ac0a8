// SPDX-License-Identifier: BSD-3-Clause
// What an HDF5 plotfile says of itself, whoever wrote it: Chombo, AMReX (one dataset per level) or Neve.
#pragma once

#include <hdf5.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "io/hdf5/amr_file.hpp"
#include "io/hdf5/handle.hpp"
#include "io/hdf5/layout_names.hpp"
#include "io/hdf5/skeleton.hpp"
#include "io/hdf5/stored_chunks.hpp"
#include "neve/hierarchy.hpp"
#include "neve/open_options.hpp"
#include "neve/status.hpp"

namespace neve::hdf5 {

struct FilterName {
  int id = 0;
  std::string name;
};

// A level's one dataset and where the boxes are in it.
struct LevelData {
  std::string name = data_name;
  Handle dataset;
  std::shared_ptr<ChunkCheck> chunks;  // of the dataset; for readers that let HDF5 read its values
  uint64_t elements = 0;
  uint64_t chunk_elements = 0;  // 0 when it is not chunked
  uint64_t stored_bytes = 0;
  std::vector<FilterName> filters;   // in the order of writing
  std::vector<int64_t> box_offsets;  // first element of each box; checked to lie inside the dataset
  IntVect ghosts{0, 0, 0};           // layers around each box in the dataset
  std::vector<FieldRecord> fields;   // empty unless Neve wrote the file

  bool holds_frames() const;  // Neve's filter and no other
};

struct PlotfileHeader {
  Hierarchy hierarchy;
  std::string kind;    // "Chombo HDF5 plotfile", ...
  std::string reason;  // how that was told (AmrFile)
  bool written_by_neve = false;
  uint64_t file_bytes = 0;
  std::vector<LevelData> levels;
  std::vector<std::string> left_behind;  // objects of the file that belong to no field
  Handle file;                           // datasets are open within it
};

// Usage error once MPI_Finalize has closed a reader's file.
Status check_alive(const Handle& file);

// Opens and checks. Errors: failure (cannot be opened), usage (not a plotfile we read, or it leads outside of
// its folder), corrupt (damaged, or its parts disagree).
Result<PlotfileHeader> read_plotfile_header(const std::string& path, const OpenOptions& options);

struct CheckpointHeader {
  AmrFile is;  // whose, and how that was told
  Hierarchy hierarchy;
  std::vector<Variable> variables;
  // By variable: the hierarchy with its components and its ghosts in the boxes, and its datasets.
  std::vector<PlotfileHeader> data;
  std::vector<std::string> others;  // of a checkpoint that is not Neve's: what is no variable, and why
  Handle file;
};

// The same for a checkpoint, Neve's or Chombo's.
Result<CheckpointHeader> read_checkpoint_header(const std::string& path, const OpenOptions& options);

}  // namespace neve::hdf5
