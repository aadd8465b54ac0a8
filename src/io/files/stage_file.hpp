// SPDX-License-Identifier: BSD-3-Clause
// Scratch files in a folder that a user names, on a fast device of one machine, beside those of other
// processes and other runs.
#pragma once

#include <optional>
#include <string>

#include "io/files/scratch_file.hpp"
#include "neve/status.hpp"

namespace neve::files {

// The error, which names the machine, where `folder` is missing, no folder, or cannot be written.
Status check_stage(const std::string& folder);

// A file without a name in `folder`, so that nothing of it stays, whatever ends the process.
// None where the folder has no room for one more file.
Result<std::optional<ScratchFile>> make_stage_file(const std::string& folder);

// The same for file systems that cannot make a file without a name: it has one for a moment,
// `.neve-stage-PROCESS-RANDOM`. First removes what processes of this machine that have ended in such a moment
// have left there.
Result<std::optional<ScratchFile>> make_stage_file_by_name(const std::string& folder);

}  // namespace neve::files
