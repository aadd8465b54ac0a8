// SPDX-License-Identifier: BSD-3-Clause
// Names of things that a process makes for itself alone: nobody can know them before, and whoever finds one
// can tell that its process has ended.
#pragma once

#include <string>
#include <string_view>

#include "neve/status.hpp"

namespace neve::files {

// `stem` + PROCESS-RANDOM, of this process.
Result<std::string> stamped_name(const std::string& stem);

// Whether the name is one that a process which ran on this machine since the last boot, and has ended, has
// made of that stem.
bool is_left_behind(std::string_view name, std::string_view stem);

}  // namespace neve::files
