// SPDX-License-Identifier: BSD-3-Clause
// Which files a pattern names, the same for `neve trace` and `neve mpi run`. No heap: traced calls ask.
#pragma once

#include <fnmatch.h>

#include <cstring>

namespace neve::trace {

// A shell's pattern, * for slashes too. One that begins with / is of the whole path, which is absolute; any
// other may also be its end, from a folder's name or the file's on: "density.*", "out/density.*",
// "./density.h5".
inline bool path_matches(const char* pattern, const char* path) {
  while (pattern[0] == '.' && pattern[1] == '/') pattern += 2;
  if (fnmatch(pattern, path, 0) == 0) return true;
  if (pattern[0] == '/') return false;
  for (const char* slash = std::strchr(path, '/'); slash != nullptr; slash = std::strchr(slash + 1, '/')) {
    if (fnmatch(pattern, slash + 1, 0) == 0) return true;
  }
  return false;
}

}  // namespace neve::trace
