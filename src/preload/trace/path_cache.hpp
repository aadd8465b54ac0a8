// SPDX-License-Identifier: BSD-3-Clause
// Which file a path that was opened before is. Asking the kernel for the name of a descriptor costs more than
// the open itself, and asking for its number a fifth. A path is remembered only where it is what the kernel
// answers, with no link in it, and holds only while the file behind it has the same number. The number is
// asked for again when it was not for a millisecond, or this process has taken a name from a file since.
#pragma once

#include <sys/stat.h>

#include <cstddef>
#include <cstdint>

#include "preload/trace/settings.hpp"

namespace neve::trace {

// What tells a file from any other.
struct FileNumber {
  dev_t device;
  ino_t inode;
  friend bool operator==(FileNumber a, FileNumber b) { return a.device == b.device && a.inode == b.inode; }
};

constexpr double number_holds_seconds = 1e-3;

class PathCache {
 public:
  struct Entry {
    uint64_t key;
    FileNumber number;
    uint32_t file;           // its record, 0 where it is not traced
    double seen;             // when its number was seen last
    uint64_t names_changed;  // at that time
  };

  // What identifies a path of an open, 0 where it cannot be remembered (nullptr). `epoch` changes whenever
  // what is remembered is void.
  uint64_t key_of(const char* path, uint64_t epoch) const;

  // nullptr where the path is not known.
  Entry* find(uint64_t key);
  void remember(const Entry& entry, const char* path, const char* resolved);

  static bool still_holds(const Entry& entry, double when, uint64_t names_changed) {
    return entry.names_changed == names_changed && when - entry.seen < number_holds_seconds;
  }

  // The process works in another folder.
  void folder_changed() { __atomic_add_fetch(&folder_epoch_, 1, __ATOMIC_RELAXED); }

 private:
  bool is_canonical(const char* path, const char* resolved);

  static constexpr uint64_t entry_count = 4096;
  Entry entries_[entry_count];
  uint64_t folder_epoch_;
  uint64_t known_folder_;  // 1 + the epoch that `folder_` is of; 0 none
  char folder_[longest_path];
  size_t folder_length_;
};

}  // namespace neve::trace
