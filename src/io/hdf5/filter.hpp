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

// HDF5's callbacks. `host` is an address in the HDF5 library that calls; `id` is the filter's number there.
// Environment read by the second:
//   NEVE_THREADS           threads per chunk, default 1
//   NEVE_PLUGIN_CACHE_MIB  decoded chunks remembered, default 64, 0 remembers none
herr_t set_local(int id, hid_t creation, hid_t type, void* host) noexcept;
size_t run_callback(unsigned flags, size_t word_count, const unsigned* words, size_t bytes,
                    size_t* buffer_bytes, void** buffer) noexcept;

template <int id>
herr_t set_local_of(hid_t creation, hid_t type, hid_t) noexcept {
  return set_local(id, creation, type, __builtin_return_address(0));
}

// What HDF5 is told about the filter under one of its numbers.
template <int id = neve_filter_id>
const H5Z_class2_t& filter_class() {
  static const H5Z_class2_t description = {
      H5Z_CLASS_T_VERS, id, 1, 1, "neve", nullptr, set_local_of<id>, run_callback,
  };
  return description;
}

// Makes the filter known to the HDF5 this program links, under all its numbers, so that it needs no plugin.
// Idempotent.
Status register_filter();

// The two directions without HDF5. `frame` must decode to exactly the chunk that `parameters` describe.
Result<std::vector<std::byte>> encode_chunk(const FilterParameters& parameters,
                                            std::span<const std::byte> chunk);
// Writes the chunk into `out` (chunk_elements values); served from memory when the same frame was
// decoded a moment ago.
Status decode_chunk(const FilterParameters& parameters, std::span<const std::byte> frame,
                    std::span<std::byte> out);

}  // namespace neve::hdf5
