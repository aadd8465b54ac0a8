// SPDX-License-Identifier: BSD-3-Clause
// All values of this rank once, in pieces that fit into memory, in the order in which their source holds
// them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "neve/hierarchy.hpp"
#include "parallel/write/local_values.hpp"

namespace neve::mpi {

// Elements of a box (LocalValues::read) that are all of one component.
struct BoxRun {
  size_t local = 0;
  int component = 0;
  uint64_t first_cell = 0;
  uint64_t cells = 0;
};

// Runs of a box that follow each other.
struct BoxStretch {
  size_t local = 0;
  uint64_t first_element = 0;
  uint64_t elements = 0;
};

class BoxPieces {
 public:
  // Of values that are read. `stored`: their boxes, with the ghosts in them. A component is cut into runs
  // where it alone is larger than a piece, unless `whole_components`.
  BoxPieces(const LocalValues& owned, const Hierarchy& stored, bool whole_components);

  size_t count() const { return ends_.size(); }
  size_t most_bytes() const { return static_cast<size_t>(most_bytes_); }
  // Not more than one at a time.
  Status read(size_t piece, std::byte* out) const;
  // Calls use(run, its values) for each run of a piece.
  Status for_each_run(size_t piece, const std::byte* values,
                      const std::function<Status(const BoxRun&, const std::byte*)>& use) const;
  // The same of the longest stretches that the piece has.
  Status for_each_stretch(size_t piece, const std::byte* values,
                          const std::function<Status(const BoxStretch&, const std::byte*)>& use) const;

 private:
  std::vector<BoxStretch> stretches_of(size_t piece) const;
  std::span<const BoxRun> runs_of(size_t piece) const;
  void add(size_t local, bool whole_components);
  void add_run(const BoxRun& run);
  const Box& box(size_t local) const;

  const LocalValues& owned_;
  const Hierarchy& stored_;
  uint64_t value_bytes_;
  std::vector<BoxRun> runs_;
  std::vector<size_t> ends_;  // of each piece, in runs_
  uint64_t last_bytes_ = 0;   // of the last piece
  uint64_t most_bytes_ = 0;
};

}  // namespace neve::mpi
