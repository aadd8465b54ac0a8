// SPDX-License-Identifier: BSD-3-Clause
#include "io/datafile/chunk_grid.hpp"

#include <algorithm>
#include <cstring>

namespace neve::datafile {
namespace {

uint64_t parts(uint64_t size, uint64_t of) { return size / of + (size % of != 0 ? 1 : 0); }

}  // namespace

uint64_t product(std::span<const uint64_t> extent) {
  uint64_t result = 1;
  for (const uint64_t size : extent) result *= size;
  return result;
}

uint64_t ChunkGrid::along(size_t dimension) const { return parts(dims[dimension], chunk[dimension]); }

uint64_t ChunkGrid::count() const {
  uint64_t chunks = 1;
  for (size_t d = 0; d < dims.size(); ++d) chunks *= along(d);
  return chunks;
}

uint64_t ChunkGrid::chunk_elements() const { return product(chunk); }

Extent ChunkGrid::first_element(uint64_t number) const {
  Extent first(dims.size());
  for (size_t d = dims.size(); d-- > 0;) {
    first[d] = number % along(d) * chunk[d];
    number /= along(d);
  }
  return first;
}

Extent ChunkGrid::held(const Extent& first) const {
  Extent size(dims.size());
  for (size_t d = 0; d < dims.size(); ++d) size[d] = std::min(chunk[d], dims[d] - first[d]);
  return size;
}

Extent choose_chunk(const Extent& dims, const Extent& unit, size_t element_bytes, uint64_t max_bytes) {
  Extent chunk = unit;
  uint64_t bytes = element_bytes * product(unit);
  for (size_t d = dims.size(); d-- > 0;) {
    const uint64_t units = std::max<uint64_t>(parts(dims[d], unit[d]), 1);
    const uint64_t room = std::max<uint64_t>(max_bytes / std::max<uint64_t>(bytes, 1), 1);
    const uint64_t taken = parts(units, parts(units, std::min(room, units)));
    // HDF5 lets no chunk be longer than a dimension that cannot grow.
    chunk[d] = std::max(unit[d], std::min(unit[d] * taken, dims[d]));
    bytes = bytes / unit[d] * chunk[d];
    if (taken < units) break;
  }
  return chunk;
}

void repeat_last_values(std::span<std::byte> chunk_values, size_t element_bytes, const Extent& chunk,
                        const Extent& held, std::span<const uint8_t> repeated) {
  for (size_t d = 0; d < chunk.size(); ++d) {
    if (!repeated[d] || held[d] == chunk[d]) continue;
    uint64_t slow = 1;
    for (size_t e = 0; e < d; ++e) slow *= chunk[e];
    size_t row_bytes = element_bytes;
    for (size_t e = d + 1; e < chunk.size(); ++e) row_bytes *= chunk[e];
    for (uint64_t s = 0; s < slow; ++s) {
      std::byte* const rows = chunk_values.data() + s * chunk[d] * row_bytes;
      const std::byte* const last = rows + (held[d] - 1) * row_bytes;
      for (uint64_t i = held[d]; i < chunk[d]; ++i) std::memcpy(rows + i * row_bytes, last, row_bytes);
    }
  }
}

void place_held(std::span<const std::byte> values, const Extent& held, size_t element_bytes,
                const Extent& chunk, std::span<std::byte> chunk_values) {
  const size_t row_bytes = held.back() * element_bytes;
  const uint64_t rows = product(held) / held.back();
  Extent at(held.size(), 0);
  for (uint64_t row = 0; row < rows; ++row) {
    uint64_t element = 0;
    for (size_t d = 0; d < held.size(); ++d) element = element * chunk[d] + at[d];
    std::memcpy(chunk_values.data() + element * element_bytes, values.data() + row * row_bytes, row_bytes);
    for (size_t d = held.size() - 1; d-- > 0;) {
      if (++at[d] < held[d]) break;
      at[d] = 0;
    }
  }
}

}  // namespace neve::datafile
