// SPDX-License-Identifier: BSD-3-Clause
// What a path holds, told by its content, never by its name.
#pragma once

#include <memory>
#include <string>

#include "neve/hierarchy.hpp"
#include "neve/open_options.hpp"
#include "neve/status.hpp"

namespace neve::plotfile {

enum class FileKind {
  amrex_plotfile,  // a directory with a Header
  npy,
  hdf5,            // opened by the rooms that know HDF5
  netcdf_classic,  // netCDF of before HDF5, in any of its offset sizes
  unknown,         // a regular file of another kind
};

// Errors: failure when there is nothing, or a directory without Header.
Result<FileKind> detect_kind(const std::string& path);

// An AMReX plotfile or a .npy file. HDF5 and unknown files are a usage error that says what was found.
Result<std::unique_ptr<PlotfileSource>> open_plotfile(const std::string& path,
                                                      const OpenOptions& options = {});

}  // namespace neve::plotfile
