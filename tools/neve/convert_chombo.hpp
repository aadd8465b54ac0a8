// SPDX-License-Identifier: BSD-3-Clause
// `neve convert` of a checkpoint that Chombo, BISICLES or another code on top of Chombo wrote: the same file,
// its boxes' values in frames or plain.
#pragma once

#include <string>

#include "io/datafile/copy_checkpoint.hpp"
#include "neve/status.hpp"
#include "tools/common/ranks.hpp"

namespace neve::cli {

// Whether a checkpoint is not Neve's own. Errors: failure, usage, corrupt.
Result<bool> is_chombo_checkpoint(const std::string& path);

// Collective; one rank does the work, with options.copy.threads.
Status convert_chombo_checkpoint(const Ranks& ranks, const std::string& source,
                                 const std::string& destination,
                                 const datafile::CheckpointCopyOptions& options, bool bound_is_default,
                                 bool json);

}  // namespace neve::cli
