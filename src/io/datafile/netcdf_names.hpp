// SPDX-License-Identifier: BSD-3-Clause
// What netCDF-4 calls its variables, and HDF5 its datasets.
#pragma once

#include <hdf5.h>

#include <cstdint>
#include <string>

namespace neve::datafile {

// The path by which netCDF knows the dataset: where a variable has the name of a dimension that it does not
// belong to, netCDF-C puts a prefix before its HDF5 name.
std::string netcdf_path(const std::string& path);

// The other way: of a variable that has such a name.
std::string hdf5_name_beside_dimension(const std::string& variable);

// The NAME of a dimension that has no variable.
std::string bare_dimension_text(uint64_t length);

// Whether the dataset stands for a dimension that has no variable: nobody reads its values.
bool is_bare_dimension(hid_t dataset);

}  // namespace neve::datafile
