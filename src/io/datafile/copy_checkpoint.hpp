// SPDX-License-Identifier: BSD-3-Clause
// A checkpoint in Chombo's layout made again as it is: every group, dataset, attribute and type under its
// name, the values of boxes in datasets of the same extent with the same offsets, in frames or plain. What
// reads the original reads the copy, given the plugin.
#pragma once

#include <string>

#include "io/datafile/copy.hpp"
#include "neve/status.hpp"

namespace neve::datafile {

struct CheckpointCopyOptions {
  // Bounds are of the values of boxes; rules match a variable ("thickness"), one of its components
  // ("density") or both ("velocity 0"). `fill` counts where there is a bound. Interrupted copies start anew.
  CopyOptions copy;
  bool compress = true;  // false: values of boxes are stored without any filter
};

// A bound relative to a range is of the component's valid cells on its level. A dataset with bounds gets a
// table of them beside it (src/io/hdf5/field_records.hpp). One whose boxes are not understood, and everything
// else, is kept bit for bit, never with a bound. Not collective. Errors: as copy_data_file, which leave
// nothing behind.
Result<CopyReport> copy_checkpoint(const std::string& source, const std::string& target,
                                   const CheckpointCopyOptions& options);

}  // namespace neve::datafile
