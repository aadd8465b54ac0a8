// SPDX-License-Identifier: BSD-3-Clause
#include "preload/trace/paths.hpp"

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>

namespace neve::trace {

namespace {

// What the kernel calls `path`; opened by name only, which touches no data.
bool ask_kernel(int folder, const char* path, int flags, char (&result)[path_room]) {
  const long opened = syscall(SYS_openat, folder, path, O_PATH | O_CLOEXEC | flags, 0);
  if (opened < 0) return false;
  char link[64];
  std::snprintf(link, sizeof link, "/proc/self/fd/%ld", opened);
  const long length = syscall(SYS_readlinkat, AT_FDCWD, link, result, sizeof result - 1);
  syscall(SYS_close, opened);
  if (length <= 0) return false;
  result[length] = '\0';
  return true;
}

}  // namespace

bool absolute_path(int folder, const char* path, char (&result)[path_room]) {
  if (path == nullptr || *path == '\0') return false;
  const char* name = std::strrchr(path, '/');
  name = name == nullptr ? path : name + 1;
  if (*name == '\0') return false;  // ends with a slash: a folder
  char beside[path_room];
  const auto length = static_cast<size_t>(name - path);
  if (length >= sizeof beside) return false;
  if (length == 0) {
    std::strcpy(beside, ".");
  } else {
    std::memcpy(beside, path, length);
    beside[length] = '\0';
  }
  if (!ask_kernel(folder, beside, O_DIRECTORY, result)) return false;
  const size_t found = std::strlen(result);
  if (found + std::strlen(name) + 2 > sizeof result) return false;
  if (found > 1) std::strcat(result, "/");
  std::strcat(result, name);
  return true;
}

bool resolved_path(const char* path, char (&result)[path_room]) {
  return ask_kernel(AT_FDCWD, path, 0, result);
}

}  // namespace neve::trace
