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

// Bytes of an address in the file that is, or holds, this object.
uint64_t address_bytes(hid_t object);

// Bytes of the chunk that begins at the element `first`, as it is stored; nothing where the dataset, which is
// chunked, does not hold it: HDF5 stores none that was never written. Of a dataset without filters the bytes
// of a whole chunk. Errors: corrupt.
Result<std::optional<uint64_t>> stored_chunk_bytes(hid_t dataset, std::span<const hsize_t> first);

// HDF5 1.10 copies a whole chunk out of what its filters have made of the stored one, and does not look
// whether that is as much. A chunk that skips its filters, or has only such as keep its size, is looked at
// here, each once. What deflate, szip, scale-offset or a plugin makes of hostile bytes cannot be told without
// them.
class ChunkCheck {
 public:
  // The dataset stays open for as long as this is used.
  explicit ChunkCheck(hid_t dataset);

  // Of the dataset as a whole: a chunk has less than 4 GiB, as HDF5 counts in 32 bits; and those without
  // filters, of which the file's index has a size all the same, take as much as so many chunks. Goes through
  // the index. Errors: corrupt.
  Status check_sizes() const;

  // Before the values of `selection`, a dataspace of the file or H5S_ALL, are read. Of a virtual dataset
  // nothing: its sources are checked where they are found (hdf5/external_files). Errors: corrupt.
  Status check(hid_t selection);

 private:
  Status check_chunk(const std::vector<hsize_t>& first);
  // What is left of `bytes` when the filters that `mask` does not skip have been undone; nothing where they
  // decide themselves.
  std::optional<uint64_t> undone(uint64_t bytes, uint32_t mask) const;

  hid_t dataset_;
  std::vector<hsize_t> dims_, chunk_;     // empty unless it is chunked
  std::vector<H5Z_filter_t> filters_;     // in the order of writing
  std::optional<uint64_t> chunk_bytes_;   // in the file; nothing where they are too many
  bool has_plain_ends_ = false;           // chunks that reach out of the dataset have no filters
  std::unordered_set<uint64_t> checked_;  // chunks by number
};

}  // namespace neve::hdf5
