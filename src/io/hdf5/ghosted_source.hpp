// SPDX-License-Identifier: BSD-3-Clause
// A plotfile being read whose boxes have layers of ghost cells around them.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "neve/box.hpp"
#include "neve/status.hpp"

namespace neve::hdf5 {

class GhostedSource {
 public:
  virtual ~GhostedSource() = default;
  // Layers that stand around every box of a level in the file; level by level.
  virtual std::vector<IntVect> ghosts() const = 0;
  // As PlotfileSource::read_box, of the box with its ghosts.
  virtual Status read_with_ghosts(int level, int box, int component, std::byte* out) = 0;
  // Attributes that a plotfile directory of AMReX has no place for ("attribute dt of its levels").
  virtual Result<std::vector<std::string>> other_attributes() const = 0;
};

}  // namespace neve::hdf5
