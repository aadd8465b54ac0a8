// SPDX-License-Identifier: BSD-3-Clause
#include "neve/plotfile_reader.hpp"

#include "core/status/guarded.hpp"
#include "io/hdf5/plotfile_source.hpp"
#include "io/plotfile/open.hpp"

namespace neve {

Result<std::unique_ptr<PlotfileSource>> open_plotfile(const std::string& path, const OpenOptions& options) {
  return guarded(path, [&]() -> Result<std::unique_ptr<PlotfileSource>> {
    NEVE_ASSIGN(const plotfile::FileKind kind, plotfile::detect_kind(path));
    if (kind == plotfile::FileKind::hdf5) return hdf5::open_hdf5_plotfile(path, options);
    return plotfile::open_plotfile(path, options);
  });
}

}  // namespace neve
