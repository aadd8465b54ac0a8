// SPDX-License-Identifier: BSD-3-Clause
// Neve's HDF5 filter: the same code inside the plugin and inside programs that link Neve.
#pragma once

#include <H5PLextern.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "io/hdf5/filter_parameters.hpp"
#include "neve/status.hpp"

namespace neve::hdf5 {

// What HDF5 is told about the filter. Environment read by it:
//   NEVE_THREADS           threads per chunk, default 1
//   NEVE_PLUGIN_CACHE_MIB  decoded chunks remembered, default 64, 0 remembers none
const H5Z_class2_t& filter_class();

// Makes the filter known to the HDF5 this program links, so that it needs no plugin. Idempotent.
Status register_filter();

// The two directions without HDF5. `frame` must decode to exactly the chunk that `parameters` describe.
Result<std::vector<std::byte>> encode_chunk(const FilterParameters& parameters,
                                            std::span<const std::byte> chunk);
// Writes the chunk into `out` (chunk_elements values); served from memory when the same frame was
// decoded a moment ago.
Status decode_chunk(const FilterParameters& parameters, std::span<const std::byte> frame,
                    std::span<std::byte> out);

}  // namespace neve::hdf5
