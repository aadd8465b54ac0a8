// SPDX-License-Identifier: BSD-3-Clause
// Which variables of a data file say where, when and how its values are, by CF's conventions, UGRID and
// SGRID, HDF5's dimension scales, or the names that models use: those that a bound for the whole file must
// not move.
#pragma once

#include <hdf5.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "io/datafile/contents.hpp"
#include "neve/status.hpp"

namespace neve::datafile {

enum class GridKind : uint8_t {
  coordinate,
  time,
  bounds,
  vertical,
  grid_mapping,
  cell_measure,
  ancillary,
  flags,
  mesh,
  model,
};

struct GridReason {
  GridKind kind = GridKind::coordinate;
  std::string sign;  // "named by /tas:coordinates", "units 'days since'"; of a model its name

  // "coordinate: named by /tas:coordinates", "time: units 'days since'", "WRF grid variable".
  std::string text() const;
};

// One entry for each dataset, in the order of `contents`; nothing where it holds values of a field. Reads
// attributes only. Errors: corrupt.
Result<std::vector<std::optional<GridReason>>> find_grid_variables(hid_t file, const Contents& contents);

}  // namespace neve::datafile
