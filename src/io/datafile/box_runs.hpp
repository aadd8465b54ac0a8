// SPDX-License-Identifier: BSD-3-Clause
// A one-dimensional dataset that holds boxes one after another, in a box component after component: which
// rectangles of which boxes any stretch of its elements is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "io/hdf5/boxed_datasets.hpp"
#include "neve/box.hpp"
#include "neve/frame.hpp"

namespace neve::datafile {

struct BoxPiece {
  static constexpr int no_component = -1;  // elements between boxes
  int component = no_component;
  FrameBox box;  // where those cells lie in the level; of elements between boxes a row at 0
};

class BoxRuns {
 public:
  // `valid`: the level's boxes; `data` says how they lie in the dataset, and it does (not_cells is empty).
  BoxRuns(int dims, const std::vector<Box>& valid, const hdf5::BoxedDataset& data);

  int dims() const { return dims_; }
  int components() const { return components_; }
  const IntVect& ghosts() const { return ghosts_; }
  const std::vector<Box>& boxes() const { return boxes_; }  // with their ghosts, by offset
  uint64_t begin(size_t box) const { return begins_[box]; }

  // Elements [begin, end) in order, without gaps.
  std::vector<BoxPiece> pieces(uint64_t begin, uint64_t end) const;
  // Cells of a box in the middle, by size; 1 where there are none.
  uint64_t typical_cells() const;

 private:
  void append_between(uint64_t begin, uint64_t end, std::vector<BoxPiece>& out) const;
  void append_box(size_t box, uint64_t begin, uint64_t end, std::vector<BoxPiece>& out) const;

  int dims_ = 3;
  int components_ = 1;
  IntVect ghosts_{0, 0, 0};
  std::vector<Box> boxes_;
  std::vector<uint64_t> begins_;  // first element, rising
};

}  // namespace neve::datafile
