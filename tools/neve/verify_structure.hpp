// SPDX-License-Identifier: BSD-3-Clause
// What two checkpoints have beside the values of their variables.
#pragma once

#include <string>
#include <vector>

#include "io/hdf5/checkpoint_source.hpp"
#include "neve/status.hpp"

namespace neve::cli {

// What the copy lost or changed, in words. Of two checkpoints in Chombo's layout everything counts: objects,
// links, types, extents, attributes, and values of datasets that are no variable, within the bounds that the
// copy records for them. Where one of them is Neve's, whose layout differs, the attributes of the original's
// groups. Not collective.
Result<std::vector<std::string>> checkpoint_differences(const std::string& original,
                                                        const hdf5::CheckpointStorage& of_original,
                                                        const std::string& copy,
                                                        const hdf5::CheckpointStorage& of_copy,
                                                        const OpenOptions& options);

}  // namespace neve::cli
