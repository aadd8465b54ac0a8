// SPDX-License-Identifier: BSD-3-Clause
// Where an open object's header lies: what tells objects of one file apart.
#pragma once

#include <hdf5.h>

#include "neve/status.hpp"

namespace neve::hdf5 {

Result<haddr_t> object_address(hid_t object);

}  // namespace neve::hdf5
