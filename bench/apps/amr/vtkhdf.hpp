// SPDX-License-Identifier: BSD-3-Clause
// A small file beside a plot file by which VTK and ParaView read it: VTKHDF 2, OverlappingAMR. It holds the
// boxes; its values are virtual datasets, places in the plot file.
#pragma once

#include <string>

#include "neve/hierarchy.hpp"
#include "neve/status.hpp"

namespace neve::amr_app {

// By one rank. `plot_path` lies in the same folder as `path`.
Status write_vtkhdf(const std::string& path, const std::string& plot_path, const Hierarchy& hierarchy);

}  // namespace neve::amr_app
