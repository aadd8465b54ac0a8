// SPDX-License-Identifier: BSD-3-Clause
// What a checkpoint says of itself, beyond what its reader (neve/checkpoint_reader.hpp) needs.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "io/hdf5/amr_file.hpp"
#include "io/hdf5/plotfile_source.hpp"
#include "neve/checkpoint_reader.hpp"
#include "neve/hierarchy.hpp"
#include "neve/status.hpp"

namespace neve::hdf5 {

struct VariableStorage {
  Variable variable;
  Hierarchy hierarchy;               // its components; its ghosts in the boxes
  std::vector<LevelStorage> levels;  // without records where it is not compressed
};

struct CheckpointStorage {
  AmrFile is;
  std::vector<std::string> others;  // CheckpointHeader::others
  Hierarchy hierarchy;
  uint64_t file_bytes = 0;
  std::vector<VariableStorage> variables;
};

// Decodes nothing. Errors: as open_checkpoint.
Result<CheckpointStorage> describe_checkpoint(const std::string& path, const OpenOptions& options = {});

// Whether an HDF5 file says that it is one; false where it cannot be opened, as other readers say why.
bool is_checkpoint(const std::string& path);

}  // namespace neve::hdf5
