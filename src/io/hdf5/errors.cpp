// SPDX-License-Identifier: BSD-3-Clause
#include "io/hdf5/errors.hpp"

#include <vector>

namespace neve::hdf5 {
namespace {

// No exception passes through HDF5, which would stay as it was in the middle of the call.
herr_t collect(unsigned, const H5E_error2_t* error, void* out) noexcept {
  try {
    if (error->desc != nullptr && error->desc[0] != '\0') {
      static_cast<std::vector<std::string>*>(out)->emplace_back(error->desc);
    }
    return 0;
  } catch (...) {
    return -1;  // out of memory: what was found so far has to do
  }
}

}  // namespace

std::string last_error() {
  std::vector<std::string> descriptions;
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, collect, &descriptions);
  if (descriptions.empty()) return "HDF5 gave no reason";
  return descriptions.front();
}

}  // namespace neve::hdf5
