// SPDX-License-Identifier: BSD-3-Clause
// All that is in a plotfile or a checkpoint but frames and values, made in a file that is open: by rank 0
// alone with the skip driver, or by all ranks with HDF5's driver for MPI-IO.
#pragma once

#include <hdf5.h>

#include <string>
#include <vector>

#include "io/hdf5/skeleton.hpp"
#include "io/hdf5/skip_driver.hpp"
#include "neve/hierarchy.hpp"
#include "neve/status.hpp"

namespace neve::hdf5 {

struct ObjectsIn {
  hid_t file = -1;
  // Of a file opened with the skip driver; null: HDF5 chooses all addresses, and no level is compressed.
  SkipDriverState* driver = nullptr;
  // Of a file that is open on several ranks, one: all make the same objects, and one writes what is in the
  // tables.
  bool fills_tables = true;
};

// Where the frames belong, as write_skeleton and write_checkpoint_skeleton tell.
Result<FrameAddresses> make_plotfile_objects(const ObjectsIn& in, const Hierarchy& h,
                                             const std::vector<LevelPlacement>& levels,
                                             const std::string& like = {}, bool with_datasets = true);
Result<CheckpointAddresses> make_checkpoint_objects(const ObjectsIn& in, const Hierarchy& h,
                                                    const std::vector<VariablePlacement>& variables);

}  // namespace neve::hdf5
