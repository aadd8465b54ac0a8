// SPDX-License-Identifier: BSD-3-Clause
#include "preload/trace/settings.hpp"

#include <sys/syscall.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "preload/trace/path_pattern.hpp"

namespace neve::trace {
namespace {

// Darshan's list, but for /dev/shm, where people keep files, and with what MPI libraries and interpreters
// keep for themselves.
constexpr const char* system_folders[] = {"/proc/",  "/sys/",  "/etc/", "/usr/", "/bin/", "/sbin/", "/lib/",
                                          "/lib64/", "/boot/", "/opt/", "/var/", "/run/", "/snap/"};
constexpr const char* system_beginnings[] = {
    "/dev/shm/vader_segment", "/dev/shm/sm_segment", "/dev/shm/mpich_shar",   "/dev/shm/sem.",
    "/dev/shm/ompi",          "/dev/shm/psm2_shm",   "/dev/shm/ucx_shm_posix"};
constexpr const char* system_ends[] = {".so", ".pyc", ".pth"};
constexpr const char* system_middles[] = {"/ompi.",        "/openmpi-sessions-", "/pmix-",         ".so.",
                                          "/__pycache__/", "/site-packages/",    "/dist-packages/"};

bool begins_with(const char* text, const char* prefix) {
  return std::strncmp(text, prefix, std::strlen(prefix)) == 0;
}

bool in_list(const char* patterns, const char* path) {
  char pattern[longest_path];
  while (*patterns != '\0') {
    const size_t length = std::strcspn(patterns, ":");
    if (length > 0 && length < sizeof pattern) {
      std::memcpy(pattern, patterns, length);
      pattern[length] = '\0';
      if (path_matches(pattern, path)) return true;
    }
    patterns += length;
    if (*patterns == ':') ++patterns;
  }
  return false;
}

bool is_system_file(const char* path) {
  if (path[0] != '/') return true;  // memfd:..., pipe:...: files without a name
  if (begins_with(path, "/dev/") && !begins_with(path, "/dev/shm/")) return true;
  for (const char* folder : system_folders) {
    if (begins_with(path, folder)) return true;
  }
  for (const char* beginning : system_beginnings) {
    if (begins_with(path, beginning)) return true;
  }
  const size_t length = std::strlen(path);
  for (const char* end : system_ends) {
    const size_t end_length = std::strlen(end);
    if (length >= end_length && std::strcmp(path + length - end_length, end) == 0) return true;
  }
  for (const char* middle : system_middles) {
    if (std::strstr(path, middle) != nullptr) return true;
  }
  const char* lock = std::strstr(path, ".locktest.");
  return lock != nullptr && lock[10] >= '0' && lock[10] <= '9';
}

void copy(char* to, size_t room, const char* from) {
  std::snprintf(to, room, "%s", from == nullptr ? "" : from);
}

uint64_t number(const char* variable, uint64_t otherwise, uint64_t least, uint64_t most) {
  const char* text = std::getenv(variable);
  if (text == nullptr || *text == '\0') return otherwise;
  char* end = nullptr;
  const unsigned long long value = std::strtoull(text, &end, 10);
  if (*end != '\0' || value < least || value > most) {
    char line[256];
    const int length =
        std::snprintf(line, sizeof line, "neve trace: %s is '%.60s'; allowed: %llu to %llu. Using %llu\n",
                      variable, text, static_cast<unsigned long long>(least),
                      static_cast<unsigned long long>(most), static_cast<unsigned long long>(otherwise));
    if (length > 0) syscall(SYS_write, STDERR_FILENO, line, static_cast<size_t>(length));
    return otherwise;
  }
  return value;
}

}  // namespace

void Settings::read_environment() {
  const char* chosen = std::getenv(output_variable);
  if (chosen == nullptr || *chosen == '\0') chosen = default_output;
  // A program may change its folder later.
  char folder[longest_path];
  if (chosen[0] != '/' && syscall(SYS_getcwd, folder, sizeof folder) > 0) {
    std::snprintf(output, sizeof output, "%.2000s/%.2000s", folder, chosen);
  } else {
    copy(output, sizeof output, chosen);
  }
  std::snprintf(parts, sizeof parts, "%s%s", output, parts_suffix);
  copy(include, sizeof include, std::getenv(include_variable));
  copy(exclude, sizeof exclude, std::getenv(exclude_variable));
  memory_bytes = number(memory_variable, 64, 1, 2048) << 20;
  sizes = static_cast<uint32_t>(number(sizes_variable, 65536, 16, 1 << 24));
}

bool Settings::wants(const char* path) const {
  if (begins_with(path, output)) {  // the trace itself, and its parts
    const char* rest = path + std::strlen(output);
    if (*rest == '\0' || begins_with(rest, parts_suffix)) return false;
  }
  if (in_list(include, path)) return true;
  return !in_list(exclude, path) && !is_system_file(path);
}

}  // namespace neve::trace
