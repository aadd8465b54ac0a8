// SPDX-License-Identifier: BSD-3-Clause
// The one dataset that holds a level's values, made empty.
#pragma once

#include <hdf5.h>

#include <cstdint>

#include "hdf5/handle.hpp"
#include "neve/status.hpp"
#include "neve/types.hpp"

namespace neve::hdf5 {

// `group` is the level's, open. The same properties whoever fills it, so that all strategies make the same
// kind of file.
Result<Handle> create_level_dataset(hid_t group, DType dtype, uint64_t chunk_elements, uint64_t chunks);

}  // namespace neve::hdf5
