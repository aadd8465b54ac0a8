// SPDX-License-Identifier: BSD-3-Clause
// What a dataset's attributes and properties say means "nothing here" (CF 1.11, section 2.5.1; NUG, appendix
// A): _FillValue, missing_value, valid_min, valid_max, valid_range, HDF5's fill value, netCDF's default.
#pragma once

#include <hdf5.h>

#include <optional>

#include "neve/frame.hpp"

namespace neve::datafile {

struct DeclaredMissing {
  std::optional<double> fill;   // the one that most missing cells have
  MissingValues others;         // nothing where there is no fill value and no limit
  bool nan_is_missing = false;  // NaN is not listed: it always comes back bit for bit
  // netCDF's default where another _FillValue is declared: readers take it for a value, writers seldom do.
  std::optional<double> unlikely;
};

// Of a dataset of numbers.
DeclaredMissing declared_missing(hid_t dataset);

}  // namespace neve::datafile
