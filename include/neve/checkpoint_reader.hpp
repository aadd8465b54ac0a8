// SPDX-License-Identifier: BSD-3-Clause
// Reading checkpoints, which hold what a simulation needs to restart: HDF5 in Chombo's layout, with a dataset
// for every variable of every level, from Neve, Chombo and Chombo codes (BISICLES). Any number of ranks may
// read them.
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
  Bound bound{BoundMode::lossless, 0};  // bound of a compressed variable
  Codec codec = Codec::automatic;
};

// A checkpoint being read. Independent, not collective: each rank opens it and reads only its boxes. A
// reader may be used by one thread at a time. Several threads may use several readers; they take turns in
// HDF5. MPI_Finalize closes the file, and the reader refuses to read afterwards.
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
  // As of PlotfileSource: where a box of a variable lies, and that all of one variable after another will be
  // read.
  virtual uint64_t place(int variable, int level, int box) const {
    (void)variable, (void)level;
    return static_cast<uint64_t>(box);
  }
  virtual void expect_all() {}
};

// Errors: failure (missing, unreadable), usage (not a checkpoint, or it refers to a file outside its folder),
// corrupt.
Result<std::unique_ptr<Checkpoint>> open_checkpoint(const std::string& path, const OpenOptions& options = {});

}  // namespace neve
#pragma GCC visibility pop
