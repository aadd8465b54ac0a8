// SPDX-License-Identifier: BSD-3-Clause
// Names as the kernel would give them back, for files that are known by name alone.
#pragma once

#include <cstddef>

namespace neve::trace {

inline constexpr size_t path_room = 4096;

// The absolute path of `path` seen from `folder` (a descriptor, or AT_FDCWD), links in its folder resolved;
// the file itself need not exist any more. False when it cannot be told. Does not use the heap.
bool absolute_path(int folder, const char* path, char (&result)[path_room]);

// The same with links resolved to the end, of a file that exists.
bool resolved_path(const char* path, char (&result)[path_room]);

}  // namespace neve::trace
