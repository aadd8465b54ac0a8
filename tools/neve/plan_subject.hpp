// SPDX-License-Identifier: BSD-3-Clause
// What `neve plan` plans for: boxes of a plotfile, a sample grid or of given sizes, distributed over ranks.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "core/io_model/file_pieces.hpp"
#include "neve/hierarchy.hpp"
#include "neve/status.hpp"
#include "tools/neve/plan_options.hpp"

namespace neve::cli::plan {

// Boxes as they are, and compressed where a ratio is given.
struct Subject {
  std::string what;
  io_model::FilePieces values;
  std::optional<io_model::FilePieces> frames;
  uint64_t busiest_rank_bytes = 0;  // of values that a rank encodes
  double max_over_mean = 1;         // of the ranks' cells (or bytes, of boxes given by size)
  size_t levels = 1;
  std::optional<std::pair<int, int>> finest_boxes;  // of the ranks with fewest and most; by size: none
};

// Without its distribution: read, or made, once for all ranks of a sweep.
struct Source {
  std::string what;
  std::optional<Hierarchy> hierarchy;  // none of boxes given by size
  int ghosts = 0;
};

Result<Source> source_of(const Args& args);
Result<Subject> subject_of(const Args& args, const Source& source);

}  // namespace neve::cli::plan
