// SPDX-License-Identifier: BSD-3-Clause
// The files of a process's part, found by their path and by the names they were renamed to.
#pragma once

#include <cstddef>
#include <cstdint>

#include "preload/trace/arena.hpp"

namespace neve::trace {

// A name in the part; 0 when there is no memory for it.
uint32_t make_name(Arena& arena, const char* text, size_t length);
bool name_is(const Arena& arena, uint32_t name, const char* text, size_t length);

enum class Rename { plain, folder, exchange };

class FileTable {
 public:
  // The file that was first met at this path; 0 when there is none, or no memory for it.
  uint32_t find(const Arena& arena, const char* path, size_t length) const;
  uint32_t find_or_make(Arena& arena, const char* path);

  // What lies at `from` lies at `to` now, and what lay there does not (it lies at `from` if both were
  // exchanged). Gives the number of names for which there was no memory.
  uint64_t rename(Arena& arena, const char* from, const char* to, Rename kind);

  void forget();

 private:
  static constexpr uint32_t bucket_count = 16384;

  uint64_t move(Arena& arena, const char* from, const char* to);
  uint64_t move_inside(Arena& arena, const char* from, const char* to);
  void displace(const Arena& arena, const char* path);
  bool give_name(Arena& arena, uint32_t file, const char* name, size_t length);

  uint32_t by_path_[bucket_count];  // PartFile
  uint32_t by_name_[bucket_count];  // PartRename
  uint32_t renames_;
};

}  // namespace neve::trace
