// SPDX-License-Identifier: BSD-3-Clause
// What the indices of chunks take in a file: version 1 B-trees, which every HDF5 reads.
#pragma once

#include <cstdint>

#include "io/datafile/chunk_grid.hpp"

namespace neve::datafile {

struct CopyPlan;

// Bytes of the index of a dataset of which all chunks are stored, if a node holds up to 2 * half_rank
// entries; 0 where `chunk` is empty: the dataset has no chunks. Appending leaves nodes nearly full.
uint64_t index_bytes(const Extent& dims, const Extent& chunk, uint64_t half_rank);

// The half rank under which the indices of all variables take least.
unsigned best_half_rank(const CopyPlan& plan);

}  // namespace neve::datafile
