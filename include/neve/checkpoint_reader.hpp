// SPDX-License-Identifier: BSD-3-Clause
// Checkpoints: what a simulation needs to go on, as BISICLES writes it: HDF5 in Chombo's layout, with a
// dataset for every variable of every level, `<name>Data:datatype=0`. Read back on any number of ranks.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "neve/box.hpp"
#include "neve/hierarchy.hpp"
#include "neve/status.hpp"
#include "neve/types.hpp"

namespace neve {

struct Variable {
  std::string name;                     // part of a dataset's name: no '/', unique
  std::vector<std::string> components;  // at least one, unique
  IntVect ghosts{0, 0, 0};              // layers of ghost cells kept around every box
  bool compress = true;
  Bound bound{BoundMode::lossless, 0};  // of a compressed variable
  Codec codec = Codec::automatic;
};

// A checkpoint being read. Independent, not collective: each rank opens it and reads only its boxes. One
// thread at a time, as HDF5 is not thread-safe.
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

// Errors: failure (missing, unreadable), usage (not a checkpoint), corrupt.
Result<std::unique_ptr<Checkpoint>> open_checkpoint(const std::string& path);

}  // namespace neve
