// SPDX-License-Identifier: BSD-3-Clause
// What a plotfile is made of beside its hierarchy, taken over from the HDF5 plotfile it was read from.
#pragma once

#include <hdf5.h>

#include <cstddef>
#include <string>
#include <vector>

#include "io/hdf5/file_parts.hpp"
#include "io/hdf5/handle.hpp"
#include "neve/status.hpp"

namespace neve::hdf5 {

// Into the plotfile `target`, which is complete but for this: attributes of the root, of Chombo_global, of
// the levels and of their data_attributes, as the source has them (`dt`, `time`, `iteration`, `max_level`,
// `ref_ratio` of the finest level too, ...), and objects of the root (Expressions, ...). What says how this
// file is made stays: names and numbers of components and levels, geometry, ghosts. Under Convention::chombo
// what is not one value goes to /neve or its level_<n>, where Chombo's readers do not look.
Status carry_over(hid_t target, const std::string& source, size_t levels, Convention convention);

// Of an HDF5 plotfile: attributes that carry_over takes and a plotfile of AMReX's own has no place for, as
// "level_0: dt". Errors: corrupt.
Result<std::vector<std::string>> carried_attributes(hid_t file, size_t levels);

}  // namespace neve::hdf5
