// SPDX-License-Identifier: BSD-3-Clause
#include "datafile/recognize.hpp"

#include "datafile/contents.hpp"
#include "hdf5/errors.hpp"
#include "hdf5/layout_names.hpp"

namespace neve::datafile {

Result<bool> is_data_file(const std::string& path) {
  const hdf5::QuietErrors quiet;
  // Nothing is followed to tell.
  NEVE_ASSIGN(const hdf5::Handle file,
              open_source(path, {.follow_external = true}, hdf5::Reading::structure));
  return H5Lexists(file.id(), hdf5::global_name, H5P_DEFAULT) <= 0;
}

}  // namespace neve::datafile
