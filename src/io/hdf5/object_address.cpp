// SPDX-License-Identifier: BSD-3-Clause
#include "io/hdf5/object_address.hpp"

#include <fmt/format.h>

#include "io/hdf5/errors.hpp"

namespace neve::hdf5 {

Result<haddr_t> object_address(hid_t object) {
#if H5_VERSION_GE(1, 12, 0)
  H5O_info1_t info;
#else
  H5O_info_t info;
#endif
  if (H5Oget_info2(object, &info, H5O_INFO_BASIC) < 0) {
    return corrupt(fmt::format("an object's header cannot be read: {}", last_error()));
  }
  return info.addr;
}

}  // namespace neve::hdf5
