// SPDX-License-Identifier: BSD-3-Clause
// The links of a group, in one pass: asked for by number, groups in the layout of before HDF5 1.8 go through
// all links for each.
#pragma once

#include <hdf5.h>

#include <string>
#include <vector>

#include "neve/status.hpp"

namespace neve::hdf5 {

// In rising order of `index`: by name, or by creation where the group tracks it. Errors: corrupt.
Result<std::vector<std::string>> link_names(hid_t group, H5_index_t index = H5_INDEX_NAME);

}  // namespace neve::hdf5
