// SPDX-License-Identifier: BSD-3-Clause
// Averages of what readers will get from a chunk, taken while it is encoded, so that the coarser level can be
// settled without decoding it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/codecs/restored_values.hpp"
#include "core/threads/scratch.hpp"
#include "neve/hierarchy.hpp"
#include "parallel/write/plan.hpp"

namespace neve::mpi {

class ChunkAverages {
 public:
  // Room for the averages of all components of the chunk's boxes, which are whole. The hierarchy and the plan
  // must outlive it.
  ChunkAverages(const Hierarchy& hierarchy, const WritePlan& plan, size_t level, size_t chunk);

  static uint64_t bytes_for(const Hierarchy& hierarchy, const WritePlan& plan, size_t level, size_t chunk);

  // Averages a box of the chunk's frame. For different boxes or components at any time in any thread.
  void take(const RestoredBox& restored);

  // Copies the averages of coarse cells that lie in the box, x fastest, without gaps. False: they were not
  // taken.
  bool get(int box, int component, const Box& cells, std::byte* out) const;

 private:
  struct BoxPlace {
    int box;
    Box cells;      // of the coarser level, all of whose finer cells lie in the box
    size_t before;  // coarse cells of the boxes before
  };

  std::byte* place_of(size_t number, int component);

  const Hierarchy& hierarchy_;
  size_t level_;
  size_t value_bytes_;
  size_t cells_ = 0;               // coarse cells of all boxes
  std::vector<BoxPlace> places_;   // in the frame's order
  std::vector<size_t> by_box_;     // numbers of places_, ascending by box
  std::vector<uint8_t> is_taken_;  // [component * boxes + number]
  RawVector<uint64_t> values_;     // component by component
};

}  // namespace neve::mpi
