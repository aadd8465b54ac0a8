// SPDX-License-Identifier: BSD-3-Clause
// A virtual file driver by which HDF5 reads a netCDF classic file: structure that was made for it stands in
// memory, values are read where they lie in the classic file.
#pragma once

#include <memory>
#include <string>

#include "io/datafile/classic_values.hpp"
#include "io/hdf5/handle.hpp"
#include "io/hdf5/held_file.hpp"
#include "neve/status.hpp"

namespace neve::datafile {

// What HDF5 sees as one file. Kept by the driver until that is closed.
struct ClassicImage {
  hdf5::HeldFile structure;
  ClassicValues values;
};

// Read only; `path` is the name by which HDF5 knows it. Errors: failure.
Result<hdf5::Handle> open_classic_image(const std::string& path, std::shared_ptr<const ClassicImage> image);

}  // namespace neve::datafile
