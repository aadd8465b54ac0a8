// SPDX-License-Identifier: BSD-3-Clause
// Types and attributes of a classic file as netCDF-C stores them in HDF5, and the attributes by which HDF5's
// dimension scales refer to each other ("HDF5 Dimension Scale Specification", The HDF Group).
#pragma once

#include <hdf5.h>

#include <cstdint>
#include <string>
#include <vector>

#include "io/datafile/classic_header.hpp"
#include "io/hdf5/handle.hpp"
#include "neve/status.hpp"

namespace neve::datafile {

// Little-endian; a text's element is a string of one letter.
hdf5::Handle hdf5_type(ClassicType type);

// Errors: usage where HDF5 or netCDF-4 have a use of their own for the name; failure.
Status write_attribute(hid_t object, const ClassicAttribute& attribute);
Status write_text(hid_t object, const std::string& name, const std::string& text);
Status write_whole_numbers(hid_t object, const std::string& name, const std::vector<int32_t>& numbers,
                           bool is_scalar);

// DIMENSION_LIST: the scale of each dimension, by its dataset's name.
Status write_scales(hid_t file, hid_t dataset, const std::vector<std::string>& scales);

// Who has a scale, as which of its dimensions.
struct ScaleUser {
  std::string dataset;
  int32_t dimension = 0;
};
// REFERENCE_LIST.
Status write_scale_users(hid_t file, hid_t scale, const std::vector<ScaleUser>& users);

}  // namespace neve::datafile
