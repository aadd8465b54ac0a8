// SPDX-License-Identifier: BSD-3-Clause
// Apart from filter.cpp because the plugin links no HDF5.
#include <fmt/format.h>

#include "io/hdf5/errors.hpp"
#include "io/hdf5/filter.hpp"

namespace neve::hdf5 {

Status register_filter() {
  const QuietErrors quiet;
  if (H5Zregister(&filter_class()) < 0) {
    return failure(fmt::format("HDF5 refuses Neve's filter {}: {}", neve_filter_id, last_error()));
  }
  return {};
}

}  // namespace neve::hdf5
