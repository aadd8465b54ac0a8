// SPDX-License-Identifier: BSD-3-Clause
// Where a dataset may hold anything but its fill value. HDF5 stores nothing of what nobody wrote, so that a
// small file may have a dataset without end, and its bytes do not pay for going through all of that.
#pragma once

#include <hdf5.h>

#include <optional>
#include <queue>
#include <vector>

#include "io/datafile/chunk_grid.hpp"
#include "io/datafile/variable.hpp"
#include "neve/status.hpp"

namespace neve::datafile {

// Elements from `first` up to, not including, `end` along each dimension.
struct ElementBlock {
  Extent first, end;
};

// Outside of these blocks, which may overlap, nothing was written: the chunks that are stored, what the
// mappings of a virtual dataset span, else all or nothing. One block for all where HDF5 keeps the chunks in
// no tree, or to list them would take longer than to read the values. Errors: corrupt.
Result<std::vector<ElementBlock>> written_blocks(hid_t dataset, const Variable& variable);

// The pieces of a dataset that hold an element of some blocks, by number, each once.
class PieceWalk {
 public:
  PieceWalk(ChunkGrid grid, const std::vector<ElementBlock>& blocks);

  // Nothing after the last.
  std::optional<uint64_t> next();

 private:
  // The pieces of one block, and where among them the walk is.
  struct Part {
    uint64_t number = 0;  // of the piece at `at`
    Extent first, last, at;

    // The smallest is on top.
    bool operator<(const Part& other) const { return number > other.number; }
  };
  uint64_t number_of(const Extent& at) const;
  // False after the last.
  bool advance(Part& part) const;

  ChunkGrid grid_;
  std::priority_queue<Part> parts_;
  std::optional<uint64_t> given_;
};

}  // namespace neve::datafile
