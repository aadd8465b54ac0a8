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

// Opens what lies at `path`, told by its content: an AMReX plotfile directory, an HDF5 plotfile of Chombo,
// AMReX or Neve, or a .npy array. Independent, not collective: each rank opens the file and reads only its
// boxes. One thread at a time; several readers may be used by several threads, which take turns in HDF5. One
// of an HDF5 file that outlives MPI_Finalize, which closes the file, refuses to read. Errors: failure
// (missing, unreadable), usage (none of these, or it leads outside of its folder), corrupt, plugin_missing (a
// filter HDF5 cannot load; Neve's own needs no plugin here).
Result<std::unique_ptr<PlotfileSource>> open_plotfile(const std::string& path,
                                                      const OpenOptions& options = {});

}  // namespace neve
#pragma GCC visibility pop
