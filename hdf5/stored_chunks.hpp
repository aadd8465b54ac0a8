// SPDX-License-Identifier: BSD-3-Clause
// The chunks of a dataset as a file stores them.
#pragma once

#include <hdf5.h>

#include <cstdint>
#include <optional>
#include <span>
#include <unordered_set>
#include <vector>

#include "neve/status.hpp"

namespace neve::hdf5 {

// Bytes of the chunk that begins at the element `first`, as it is stored; nothing where the dataset, which is
// chunked, does not hold it: HDF5 stores none that was never written. Of a dataset without filters the bytes
// of a whole chunk. Errors: corrupt.
Result<std::optional<uint64_t>> stored_chunk_bytes(hid_t dataset, std::span<const hsize_t> first);

// HDF5 1.10 copies a whole chunk out of what its filters have made of the stored one, and does not look
// whether that is as much. A chunk that skips its filters, or has only such as keep its size, is looked at
// here, each once. What a filter like deflate makes of hostile bytes cannot be told without it.
class ChunkCheck {
 public:
  // The dataset stays open for as long as this is used.
  explicit ChunkCheck(hid_t dataset);

  // Before the values of `selection`, a dataspace of the file or H5S_ALL, are read. Errors: corrupt.
  Status check(hid_t selection);

 private:
  Status check_chunk(const std::vector<hsize_t>& first);
  // What is left of `bytes` when the filters that `mask` does not skip have been undone; nothing where they
  // decide themselves.
  std::optional<uint64_t> undone(uint64_t bytes, uint32_t mask) const;

  hid_t dataset_;
  std::vector<hsize_t> dims_, chunk_;  // empty where nothing is to be checked
  std::vector<H5Z_filter_t> filters_;  // in the order of writing
  uint64_t chunk_bytes_ = 0;
  bool has_plain_ends_ = false;           // chunks that reach out of the dataset have no filters
  std::unordered_set<uint64_t> checked_;  // chunks by number
};

}  // namespace neve::hdf5
