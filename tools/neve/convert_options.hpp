// SPDX-License-Identifier: BSD-3-Clause
// What `neve convert` makes of its source, and which options mean something then.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "core/options/option.hpp"
#include "neve/status.hpp"

namespace neve::cli {

// Usage error that names the first option given without a meaning for what is made, and what it is for.
Status check_convert_options(const CLI::App& command, options::Target target);

bool has_hdf5_name(const std::string& destination);  // by its ending

// Whether a plotfile goes into an HDF5 file (else an AMReX directory). `to` is "hdf5", "amrex", or "auto": by
// the name. A name that looks like some other file's, as in plt.nc, is refused: an AMReX directory of that
// name would hardly be meant.
Result<bool> goes_to_hdf5(const std::string& destination, const std::string& to);

}  // namespace neve::cli
