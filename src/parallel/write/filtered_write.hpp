// SPDX-License-Identifier: BSD-3-Clause
// Strategy filtered: HDF5 itself places and writes the frames, by collective filtered H5Dwrite, one for each
// level, in which every rank fills one chunk with all it holds. AMRIC's way, with its memory traps removed:
// frames are made before and handed over inside the filter's callback (src/io/hdf5/stand_in.hpp), and a rank
// selects one element of its chunk, so that HDF5 copies none of the values.
#pragma once

#include <span>
#include <string>

#include "neve/hierarchy.hpp"
#include "parallel/file/write_pieces.hpp"
#include "parallel/write/encode_chunks.hpp"
#include "parallel/write/plan.hpp"

namespace neve::mpi {

struct FilteredTimes {
  double create_seconds = 0;  // opening the file, making the datasets
  PiecesReport pieces;
};

// Usage error in a build without MPI.
Status check_filtered_is_built();

// Collective. Adds the datasets to the plotfile at `path`, which describe_file has begun, and syncs it. The
// frames of `chunks`, of which a rank has at most one a level, are given up.
//
// All that can fail on one rank alone is done, and agreed on, before the collective calls. What fails inside
// them, such as a device, HDF5 and the MPI library report as they can: a rank may wait there for others.
Result<FilteredTimes> write_filtered(const Comm& comm, const std::string& path, const Hints& hints,
                                     const Hierarchy& hierarchy, const WritePlan& plan,
                                     std::span<EncodedChunk> chunks);

}  // namespace neve::mpi
