// SPDX-License-Identifier: BSD-3-Clause
// Reading a plotfile of any kind Neve knows.
#pragma once

#include <memory>
#include <string>

#include "neve/hierarchy.hpp"
#include "neve/status.hpp"

namespace neve {

// Opens what lies at `path`, told by its content: an AMReX plotfile directory, an HDF5 plotfile of Chombo,
// AMReX or Neve, or a .npy array. Independent, not collective: each rank opens the file and reads only its
// boxes. One thread at a time, as HDF5 is not thread-safe. Errors: failure (missing, unreadable), usage (none
// of these), corrupt, plugin_missing (a filter HDF5 cannot load; Neve's own needs no plugin here).
Result<std::unique_ptr<PlotfileSource>> open_plotfile(const std::string& path);

}  // namespace neve
