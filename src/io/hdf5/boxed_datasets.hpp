// SPDX-License-Identifier: BSD-3-Clause
// What datasets of boxes' values a file in Chombo's layout has: `<base>:datatype=<k>` in each level, with
// `<base>:offsets=<k>` and `<base>_attributes` beside it. Where each box's elements are is read, the values
// are not.
#pragma once

#include <hdf5.h>

#include <cstdint>
#include <string>
#include <vector>

#include "neve/box.hpp"
#include "neve/status.hpp"

namespace neve::hdf5 {

struct BoxedDataset {
  std::string path;  // "level_0/data:datatype=0"
  std::string base;  // "data"
  int components = 1;
  IntVect ghosts{0, 0, 0};           // layers around every box
  std::vector<int64_t> box_offsets;  // first element of each box, then one number more, as the file has them
  uint64_t elements = 0;
  // Why its elements are not what `components` of the level's boxes with `ghosts` are (values on faces,
  // several types, offsets that do not fit); empty where they are. Then boxes share no element.
  std::string not_cells;
};

struct BoxedLevel {
  std::vector<Box> boxes;  // valid cells
  std::vector<BoxedDataset> datasets;
};

// All levels, coarsest first; one without boxes has none. A level whose list of boxes cannot be read is an
// error, a dataset whose boxes are not understood says so. Errors: corrupt.
Result<std::vector<BoxedLevel>> read_boxed_datasets(hid_t file);

// Names of a dataset's components: those of the root where it is Chombo's one "data" and they stand there,
// its own where it has one component, else their numbers.
std::vector<std::string> boxed_component_names(hid_t file, const BoxedDataset& data);

// Chombo_global's SpaceDim. Errors: corrupt.
Result<int> read_space_dims(hid_t file);

}  // namespace neve::hdf5
