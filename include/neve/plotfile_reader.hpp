// SPDX-License-Identifier: BSD-3-Clause
// Reading a plotfile of any kind Neve knows.
#pragma once

#include <memory>
#include <string>

#include "neve/hierarchy.hpp"
#include "neve/open_options.hpp"
#include "neve/status.hpp"

#pragma GCC visibility push(default)
namespace neve {

// Opens a plotfile; its contents show its kind: an AMReX plotfile directory, an HDF5 plotfile of Chombo,
// AMReX or Neve, or a .npy array. Independent, not collective: each rank opens the file and reads only its
// boxes. A reader may be used by one thread at a time. Several threads may use several readers; they take
// turns in HDF5. MPI_Finalize closes HDF5 files: a reader of one refuses to read afterwards. Errors: failure
// (missing, unreadable), usage (none of these kinds, or it refers to a file outside its folder), corrupt,
// plugin_missing (a filter that HDF5 cannot load; Neve's own needs no plugin here).
Result<std::unique_ptr<PlotfileSource>> open_plotfile(const std::string& path,
                                                      const OpenOptions& options = {});

}  // namespace neve
#pragma GCC visibility pop
