// SPDX-License-Identifier: BSD-3-Clause
// Opening so that HDF5 copies no more out of a chunk than it holds. Of chunks without filters it takes the
// size from the file's index, and copies a whole chunk out of its cache whatever size that was; those that
// find no place in the cache it reads where they lie. Chunks under filters: src/io/hdf5/stored_chunks.hpp.
#pragma once

#include <hdf5.h>

#include <cstdint>
#include <string>

#include "io/hdf5/handle.hpp"
#include "neve/status.hpp"

namespace neve::hdf5 {

// Of a file that is opened with it; open_dataset_to_read gives those that need one a cache of their own.
void use_no_chunk_cache(hid_t file_access);

// Read only, without a cache of chunks. Errors: corrupt (HDF5 refuses it).
Result<Handle> open_file_to_read(const std::string& path);

inline constexpr uint64_t default_chunk_cache_bytes = uint64_t{16} << 20;

// A dataset of such a file. What several reads take of a chunk under filters, of this or of a source of a
// virtual dataset, is decoded once, as far as `cache_bytes` go, and given up when it has been read. Invalid
// where HDF5 refuses.
Handle open_dataset_to_read(hid_t where, const std::string& path,
                            uint64_t cache_bytes = default_chunk_cache_bytes);

}  // namespace neve::hdf5
