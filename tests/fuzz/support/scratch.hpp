// SPDX-License-Identifier: BSD-3-Clause
// Files for readers that take a path: a folder of this process, in TMPDIR or else in memory.
#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace neve::fuzz {

// Empty at first, removed when the process ends.
const std::string& scratch_folder();

// Writes a file into it, over what has the name, and returns its path. `name` may have folders in it; they
// are made.
std::string scratch_file(const std::string& name, std::span<const std::byte> bytes);

// Removes what the folder holds.
void clear_scratch();

}  // namespace neve::fuzz
