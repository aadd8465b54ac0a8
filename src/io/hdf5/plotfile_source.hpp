// SPDX-License-Identifier: BSD-3-Clause
// Reading HDF5 plotfiles: Chombo's, AMReX's with one dataset per level, and Neve's own.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "io/hdf5/plotfile_header.hpp"
#include "io/hdf5/skeleton.hpp"
#include "neve/hierarchy.hpp"
#include "neve/status.hpp"

namespace neve::hdf5 {

// Independent; one thread at a time (HDF5 is not thread-safe). Elements are read only for the boxes asked
// for, though HDF5 decompresses whole chunks of foreign files; of Neve's files only the sections asked for
// are decoded. Errors: failure, usage (not such a plotfile), corrupt, plugin_missing (a filter HDF5 cannot
// load).
Result<std::unique_ptr<PlotfileSource>> open_hdf5_plotfile(const std::string& path,
                                                           const OpenOptions& options = {});

// What a level's dataset spends, for `neve info`.
struct LevelStorage {
  uint64_t elements = 0;
  uint64_t chunk_elements = 0;  // 0 when not chunked
  uint64_t chunks = 0;
  uint64_t stored_bytes = 0;
  std::vector<std::string> filters;  // "gzip (1)", "neve (466)", ...
  IntVect ghosts{0, 0, 0};           // layers around every box in the dataset
  std::vector<FieldRecord> fields;   // empty unless Neve wrote the file
};

struct PlotfileStorage {
  std::string kind;
  std::string reason;  // how that was told
  bool written_by_neve = false;
  uint64_t file_bytes = 0;
  Hierarchy hierarchy;
  std::vector<LevelStorage> levels;
};

// Of an opened file's dataset, which gives up its records.
LevelStorage level_storage(LevelData& data);

// Needs no filter: decodes nothing.
Result<PlotfileStorage> describe_hdf5_plotfile(const std::string& path, const OpenOptions& options = {});

}  // namespace neve::hdf5
