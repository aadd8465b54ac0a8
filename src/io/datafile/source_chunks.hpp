// SPDX-License-Identifier: BSD-3-Clause
// The values of a variable that is to be coded, in the chunks of its copy.
#pragma once

#include <hdf5.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "io/datafile/plan.hpp"
#include "io/datafile/written_blocks.hpp"
#include "io/hdf5/handle.hpp"
#include "neve/status.hpp"

namespace neve::datafile {

uint64_t chunk_bytes(const VariablePlan& plan);  // of values

class SourceChunks {
 public:
  explicit SourceChunks(hid_t file) : file_(file) {}

  // The variable that the others are of, in place of the one before.
  Status open(const VariablePlan& plan);
  // What of it was written.
  Result<std::vector<ElementBlock>> written() const;
  // Whether the copy has the chunk that begins at `first`: not where the source, which has the same chunks,
  // does not hold it.
  Result<bool> holds(const Extent& first) const;
  // All chunks that the copy has, by number.
  Result<std::vector<uint64_t>> numbers() const;
  // Those of the chunk that begins at `first`, whole also where it reaches out of the dataset.
  Result<std::vector<std::byte>> values(const Extent& first) const;

 private:
  Status fill(std::vector<std::byte>& values) const;

  hid_t file_;
  const VariablePlan* plan_ = nullptr;
  hdf5::Handle dataset_, type_;
};

}  // namespace neve::datafile
