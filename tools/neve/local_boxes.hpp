// SPDX-License-Identifier: BSD-3-Clause
// The part of a hierarchy one rank reads and hands to a writer.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "neve/hierarchy.hpp"
#include "neve/plotfile_writer.hpp"
#include "neve/status.hpp"
#include "tools/common/console.hpp"
#include "tools/common/ranks.hpp"

namespace neve::cli {

struct LocalBoxes {
  std::vector<std::unique_ptr<std::byte[]>> storage;  // by box; components one after another
  std::vector<LocalBox> boxes;
};

// Collective: every rank reads the boxes distribute_boxes gives it, and only those.
Result<LocalBoxes> read_local_boxes(const Ranks& ranks, PlotfileSource& source, const std::string& path,
                                    Progress& progress);

// Of boxes that were read as larger ones: their outer layers are ghosts again.
void give_ghosts(LocalBoxes& local, const IntVect& ghosts, DType dtype);

}  // namespace neve::cli
