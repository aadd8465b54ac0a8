// SPDX-License-Identifier: BSD-3-Clause
#include "io/datafile/recognize.hpp"

#include "io/datafile/contents.hpp"
#include "io/hdf5/errors.hpp"
#include "io/hdf5/layout_names.hpp"

namespace neve::datafile {

Result<bool> is_data_file(const std::string& path) {
  const hdf5::QuietErrors quiet;
  // Nothing is followed to tell.
  NEVE_ASSIGN(const hdf5::Handle file,
              open_source(path, {.follow_external = true}, hdf5::Reading::structure));
  return H5Lexists(file.id(), hdf5::global_name, H5P_DEFAULT) <= 0;
}

}  // namespace neve::datafile
