// SPDX-License-Identifier: BSD-3-Clause
// Chunks that are only copied or compared need none of their filters.
#pragma once

#include <hdf5.h>

#include "io/datafile/variable.hpp"
#include "neve/status.hpp"

namespace neve::datafile {

// HDF5 makes no dataset with a filter that it cannot find. Afterwards it can: the filters of `creation` that
// it lacks are registered under the names that the file gives them, and fail when they are run. For the rest
// of the process: HDF5 lets go of no filter that an open dataset has.
Status stand_in_for_filters(hid_t creation);

// Whether two chunked datasets hold the same chunks, filtered alike, without a look into them.
Result<bool> stored_alike(hid_t a, const Variable& of_a, hid_t b, const Variable& of_b);

}  // namespace neve::datafile
