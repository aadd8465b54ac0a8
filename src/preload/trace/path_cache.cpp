// SPDX-License-Identifier: BSD-3-Clause
#include "preload/trace/path_cache.hpp"

#include <sys/syscall.h>
#include <unistd.h>

#include <cstring>

#include "preload/trace/text_hash.hpp"

namespace neve::trace {

uint64_t PathCache::key_of(const char* path, uint64_t epoch) const {
  if (path == nullptr || *path == '\0') return 0;
  uint64_t key = hash_of(path, std::strlen(path)) + epoch * 0x9e3779b97f4a7c15ULL;
  if (path[0] != '/') {
    key ^= (__atomic_load_n(&folder_epoch_, __ATOMIC_RELAXED) + 1) * 0xbf58476d1ce4e5b9ULL;
  }
  return key == 0 ? 1 : key;
}

PathCache::Entry* PathCache::find(uint64_t key) {
  Entry& entry = entries_[key % entry_count];
  return key == 0 || entry.key != key ? nullptr : &entry;
}

bool PathCache::is_canonical(const char* path, const char* resolved) {
  if (path[0] == '/') return std::strcmp(path, resolved) == 0;
  const uint64_t epoch = __atomic_load_n(&folder_epoch_, __ATOMIC_RELAXED);
  if (known_folder_ != epoch + 1) {
    if (syscall(SYS_getcwd, folder_, sizeof folder_) <= 0) return false;
    folder_length_ = std::strlen(folder_);
    known_folder_ = epoch + 1;
  }
  return std::strncmp(resolved, folder_, folder_length_) == 0 && resolved[folder_length_] == '/' &&
         std::strcmp(resolved + folder_length_ + 1, path) == 0;
}

void PathCache::remember(const Entry& entry, const char* path, const char* resolved) {
  if (entry.key != 0 && is_canonical(path, resolved)) entries_[entry.key % entry_count] = entry;
}

}  // namespace neve::trace
