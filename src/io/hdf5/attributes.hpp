// SPDX-License-Identifier: BSD-3-Clause
// Attributes of a plotfile's groups. Writers name the attribute they could not write; readers take scalars
// and arrays of one element alike, because Chombo writes the former and AMReX the latter.
#pragma once

#include <hdf5.h>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "io/hdf5/handle.hpp"
#include "neve/box.hpp"
#include "neve/status.hpp"

namespace neve::hdf5 {

// Little-endian fixed-size types, so that a file's bytes do not depend on who wrote it.
Status write_attribute(hid_t where, const std::string& name, int32_t value);
Status write_attribute(hid_t where, const std::string& name, double value);
Status write_attribute(hid_t where, const std::string& name, std::span<const int32_t> values);
Status write_attribute(hid_t where, const std::string& name, std::span<const double> values);
// Fixed length: yt cannot decode variable-length strings.
Status write_attribute(hid_t where, const std::string& name, const std::string& value);
Status write_box_attribute(hid_t where, const std::string& name, const Box& box, int dims);
Status write_intvect_attribute(hid_t where, const std::string& name, const IntVect& value, int dims);

bool has_attribute(hid_t where, const std::string& name);
// `place` names the group in messages ("level_0"). Errors: corrupt, naming place and attribute.
Result<int32_t> read_int(hid_t where, const std::string& place, const std::string& name);
Result<double> read_double(hid_t where, const std::string& place, const std::string& name);
Result<std::vector<int32_t>> read_ints(hid_t where, const std::string& place, const std::string& name);
Result<std::vector<double>> read_doubles(hid_t where, const std::string& place, const std::string& name);
Result<std::string> read_string(hid_t where, const std::string& place, const std::string& name);
Result<Box> read_box_attribute(hid_t where, const std::string& place, const std::string& name, int dims);
Result<IntVect> read_intvect_attribute(hid_t where, const std::string& place, const std::string& name,
                                       int dims);

// Compound of lo_i, lo_j, ... hi_i, ... as Chombo defines it, `dims` directions, int32.
Handle box_type(int dims, hid_t member);

// That the file's compound has all members of `wanted`, and no member outside its own bytes: HDF5 converts
// values without checking that, and a damaged type makes it read past the end.
Status check_compound(hid_t in_file, hid_t wanted);

}  // namespace neve::hdf5
