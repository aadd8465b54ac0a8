// SPDX-License-Identifier: BSD-3-Clause
// A dataset cut into chunks: arithmetic on extents, slowest dimension first.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace neve::datafile {

using Extent = std::vector<uint64_t>;

struct ChunkGrid {
  Extent dims, chunk;  // of equal rank, at least 1; chunk sizes are not 0

  uint64_t along(size_t dimension) const;
  uint64_t count() const;  // chunks that hold elements; 0 when a dimension is 0
  uint64_t chunk_elements() const;
  Extent first_element(uint64_t number) const;  // numbered with the fastest dimension fastest
  Extent held(const Extent& first) const;       // how much of that chunk lies inside the dataset
};

uint64_t product(std::span<const uint64_t> extent);

// A chunk of at most `max_bytes` (but one element at least): whole fast dimensions, and of the slowest ones
// as few steps as it takes, so that reading one time step decodes little else. Parts are of equal size as far
// as possible, because the rest of a last chunk is wasted. `unit`, the chunk of an earlier layout, is kept
// whole: every side of the result is a multiple of it, or the whole dimension.
Extent choose_chunk(const Extent& dims, const Extent& unit, size_t element_bytes, uint64_t max_bytes);

// Within a chunk of which only `held` is data: repeats the last value along each dimension of `repeated`,
// where prediction then finds no jump. Other cells stay as they are.
void repeat_last_values(std::span<std::byte> chunk_values, size_t element_bytes, const Extent& chunk,
                        const Extent& held, std::span<const uint8_t> repeated);

// Copies the leading `held` part of a dense array of that extent into the chunk's first corner.
void place_held(std::span<const std::byte> values, const Extent& held, size_t element_bytes,
                const Extent& chunk, std::span<std::byte> chunk_values);

}  // namespace neve::datafile
