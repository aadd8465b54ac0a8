// SPDX-License-Identifier: BSD-3-Clause
// A netCDF classic file as an HDF5 file that can be read: nothing of it is copied, to disk nor to memory, but
// the header.
#pragma once

#include <string>

#include "io/hdf5/handle.hpp"
#include "neve/status.hpp"

namespace neve::datafile {

// Read only. Variables have chunks of at most default_chunk_bytes. Errors: corrupt, usage, failure.
Result<hdf5::Handle> open_classic(const std::string& path);

}  // namespace neve::datafile
