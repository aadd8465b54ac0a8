// SPDX-License-Identifier: BSD-3-Clause
// The netCDF-4 structure (dimension scales, variables, attributes) of what a classic header describes, as
// netCDF-C lays it out in HDF5 (netCDF-4 file format, docs of netCDF-C), and where it puts each chunk.
#pragma once

#include <vector>

#include "io/datafile/classic_header.hpp"
#include "io/datafile/classic_values.hpp"
#include "io/hdf5/held_file.hpp"
#include "io/plotfile/file.hpp"
#include "neve/status.hpp"

namespace neve::datafile {

struct ClassicStructure {
  hdf5::HeldFile held;
  std::vector<ClassicChunk> chunks;  // by rising address
};

// `source`: the classic file, of which small variables are read; it is not changed. Errors: failure (HDF5
// refuses, or has a use of its own for an attribute's name), corrupt.
Result<ClassicStructure> make_classic_structure(const plotfile::File& source, const ClassicHeader& header);

}  // namespace neve::datafile
