// SPDX-License-Identifier: BSD-3-Clause
// Removing what a failed write leaves, also where it failed because memory has ended: no memory of C++'s is
// asked for, and nothing is thrown.
#pragma once

#include <string_view>

namespace neve::files {

// Removes what lies in the folder `path` under the names that `is_wanted` picks, folders with all that is in
// them, links and not what they lead to; then the folder, which stays where something else lies in it. Best
// effort.
void remove_from_folder(const char* path, bool (*is_wanted)(std::string_view name)) noexcept;

}  // namespace neve::files
