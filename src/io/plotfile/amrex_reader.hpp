// SPDX-License-Identifier: BSD-3-Clause
// AMReX's native plotfile directories: Header, Level_N/Cell_H and the FABs.
#pragma once

#include <memory>
#include <string>

#include "neve/hierarchy.hpp"
#include "neve/open_options.hpp"
#include "neve/status.hpp"

namespace neve::plotfile {

// Reads the text headers and each level's first FAB header, and compares the sizes of the data files with
// what the headers promise; field values are read by read_box alone, one component at a time. read_box may be
// called from several threads. Errors: failure (a piece is missing or cannot be read), corrupt (pieces are
// damaged or disagree), usage (a plotfile of a kind that is not read: nodal boxes, ASCII or 8-bit FABs; a
// symbolic link leads one of its pieces outside of the directory). Names with `..` or from the root on, which
// no AMReX code writes, are corrupt under any options. A side file outside of the directory stays behind.
Result<std::unique_ptr<PlotfileSource>> open_amrex_plotfile(const std::string& path,
                                                            const OpenOptions& options = {});

// Of a directory that has none.
Status no_amrex_header(const std::string& path);

}  // namespace neve::plotfile
