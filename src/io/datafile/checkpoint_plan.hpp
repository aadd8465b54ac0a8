// SPDX-License-Identifier: BSD-3-Clause
// What happens to each dataset of a checkpoint in Chombo's layout.
#pragma once

#include <hdf5.h>

#include <map>
#include <string>
#include <vector>

#include "io/datafile/contents.hpp"
#include "io/datafile/copy_checkpoint.hpp"
#include "io/datafile/plan.hpp"

namespace neve::datafile {

// A dataset with bounds, for the table beside it.
struct BoundedDataset {
  std::string group;                    // "/level_0"
  std::string base;                     // "thickness"
  std::vector<std::string> components;  // names, for people
  uint64_t cells = 0;                   // of a component, ghosts among them
};

struct CheckpointPlan {
  CopyPlan copy;
  std::map<size_t, BoundedDataset> bounded;  // by number of the variable in `copy`
};

// Reads values only where a bound is relative to their range. Errors: usage (a rule that matches nothing or
// asks for what boxes cannot have), corrupt, plugin_missing.
Result<CheckpointPlan> make_checkpoint_plan(hid_t file, const Contents& contents,
                                            const CheckpointCopyOptions& options);

}  // namespace neve::datafile
