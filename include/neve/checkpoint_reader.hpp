// SPDX-License-Identifier: BSD-3-Clause
// Checkpoints: what a simulation needs to go on: HDF5 in Chombo's layout, with a dataset for every variable
// of every level. Neve's own, Chombo's and those of codes on Chombo (BISICLES). Read back on any number of
// ranks.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "neve/box.hpp"
#include "neve/hierarchy.hpp"
#include "neve/open_options.hpp"
#include "neve/status.hpp"
#include "neve/types.hpp"

#pragma GCC visibility push(default)
namespace neve {

struct Variable {
  std::string name;                     // part of a dataset's name: no '/', unique; Chombo's one is "data"
  std::vector<std::string> components;  // at least one, unique
  IntVect ghosts{0, 0, 0};              // layers of ghost cells kept around every box
  bool compress = true;
  Bound bound{BoundMode::lossless, 0};  // of a compressed variable
  Codec codec = Codec::automatic;
};

// A checkpoint being read. Independent, not collective: each rank opens it and reads only its boxes. One
// thread at a time; several readers may be used by several threads, which take turns in HDF5. After
// MPI_Finalize, which closes its file, it refuses to read.
class Checkpoint {
 public:
  virtual ~Checkpoint() = default;
  // As it was written.
  virtual const Hierarchy& hierarchy() const = 0;
  // As they were written.
  virtual const std::vector<Variable>& variables() const = 0;
  // One component of a box with the variable's ghosts, x fastest, into `out`, which holds as many values.
  // Errors: usage (no such thing), corrupt.
  virtual Status read_box(int variable, int level, int box, int component, std::byte* out) = 0;
};

// Errors: failure (missing, unreadable), usage (not a checkpoint, or it leads outside of its folder),
// corrupt.
Result<std::unique_ptr<Checkpoint>> open_checkpoint(const std::string& path, const OpenOptions& options = {});

}  // namespace neve
#pragma GCC visibility pop
