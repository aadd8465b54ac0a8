// SPDX-License-Identifier: BSD-3-Clause
// The numbers of Neve's HDF5 filter. They stand in files, so none is ever dropped:
// docs/filter-registration.md.
#pragma once

#include <algorithm>
#include <array>

#include "neve/filter.h"

namespace neve::hdf5 {

// New datasets have this one. HDF5 keeps 256..511 for filters that are not registered with The HDF Group. 305
// and 307 in there are known squatters (PyTables' LZO and bzip2); 466 is used by nobody we know.
inline constexpr int neve_filter_id = NEVE_FILTER_ID;

// Those that NEVE_FILTER_ID had before. Each needs a plugin of its own, too: neve_former_plugin_ids in
// CMakeLists.txt.
inline constexpr std::array<int, 0> former_filter_ids = {};

constexpr bool is_neve_filter(int id) {
  return id == neve_filter_id ||
         std::find(former_filter_ids.begin(), former_filter_ids.end(), id) != former_filter_ids.end();
}

}  // namespace neve::hdf5
