// SPDX-License-Identifier: BSD-3-Clause
// Chombo's own path: all ranks make the file through parallel HDF5, and H5Dwrite takes boxes that were copied
// into a buffer, by themselves or as a union of hyperslabs.
#pragma once

#include <string>

#include "bench/apps/chombo/contents.hpp"
#include "bench/apps/chombo/way.hpp"
#include "bench/apps/chombo/write_way.hpp"
#include "parallel/comm/agree.hpp"
#include "parallel/file/write_pieces.hpp"

namespace neve::chombo {

// Collective; all ranks return the same error. Makes the file `path`, which is durable when this returns, and
// adds to the report what this rank did. All that can fail on one rank alone is done, and agreed on, before
// the collective calls that others would wait in; what a device does not take is known after them.
Status write_by_hdf5(const mpi::Comm& comm, const std::string& path, const mpi::Hints& hints, const Way& way,
                     const Contents& contents, WayReport& report);

}  // namespace neve::chombo
