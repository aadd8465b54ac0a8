// SPDX-License-Identifier: BSD-3-Clause
// `neve convert` of a checkpoint: the same variables, boxes and ghosts, kept another way.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "neve/open_options.hpp"
#include "neve/plotfile_writer.hpp"
#include "neve/status.hpp"
#include "tools/common/ranks.hpp"

namespace neve::cli {

struct CheckpointConversion {
  std::string source, destination;
  std::optional<Bound> bound;  // of variables without a rule; none: lossless, so that no error is added
  WriteOptions options;        // its rules are by variable
  OpenOptions open;            // of the source
  bool json = false;
};

// Collective.
Status convert_checkpoint(const Ranks& ranks, CheckpointConversion conversion);

}  // namespace neve::cli
