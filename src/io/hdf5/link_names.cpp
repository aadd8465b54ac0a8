// SPDX-License-Identifier: BSD-3-Clause
#include "io/hdf5/link_names.hpp"

#include <fmt/format.h>

#include <new>

#include "io/hdf5/errors.hpp"

namespace neve::hdf5 {
namespace {

struct Listing {
  std::vector<std::string> names;
  bool has_memory = true;
};

herr_t add_name(hid_t, const char* name, const H5L_info_t*, void* listing) noexcept {
  auto* out = static_cast<Listing*>(listing);
  try {
    out->names.emplace_back(name);
    return 0;
  } catch (const std::bad_alloc&) {  // not through HDF5, which is C
    out->has_memory = false;
    return -1;
  }
}

}  // namespace

Result<std::vector<std::string>> link_names(hid_t group, H5_index_t index) {
  Listing listing;
  hsize_t at = 0;
  const herr_t listed = H5Literate(group, index, H5_ITER_INC, &at, add_name, &listing);
  if (!listing.has_memory) throw std::bad_alloc();
  if (listed < 0) return corrupt(fmt::format("its links cannot be listed: {}", last_error()));
  return std::move(listing.names);
}

}  // namespace neve::hdf5
