// SPDX-License-Identifier: BSD-3-Clause
// Which HDF5 files are data files, and not plotfiles.
#pragma once

#include <string>

#include "neve/status.hpp"

namespace neve::datafile {

// Whether an HDF5 file is anything but a Chombo, AMReX or Neve plotfile or checkpoint, which have a group
// Chombo_global. Errors: failure (unreadable), corrupt (HDF5 cannot open it).
Result<bool> is_data_file(const std::string& path);

}  // namespace neve::datafile
