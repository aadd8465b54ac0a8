// SPDX-License-Identifier: BSD-3-Clause
// Apart from filter.cpp because the plugin links no HDF5.
#include <fmt/format.h>

#include <utility>

#include "io/hdf5/errors.hpp"
#include "io/hdf5/filter.hpp"

namespace neve::hdf5 {

namespace {

Status register_class(const H5Z_class2_t& description) {
  if (H5Zregister(&description) < 0) {
    return failure(fmt::format("HDF5 refuses Neve's filter {}: {}", description.id, last_error()));
  }
  return {};
}

template <size_t... i>
Status register_former(std::index_sequence<i...>) {
  Status status;
  ((status = status.ok() ? register_class(filter_class<former_filter_ids[i]>()) : status), ...);
  return status;
}

}  // namespace

Status register_filter() {
  const QuietErrors quiet;
  NEVE_TRY(register_class(filter_class()));
  return register_former(std::make_index_sequence<former_filter_ids.size()>());
}

}  // namespace neve::hdf5
