// SPDX-License-Identifier: BSD-3-Clause
#include "preload/trace/file_table.hpp"

#include <cstring>

#include "preload/trace/part.hpp"
#include "preload/trace/text_hash.hpp"

namespace neve::trace {
namespace {

struct Text {
  const char* begin;
  size_t length;
};

Text text_of(const Arena& arena, uint32_t name) {
  return {arena.at<char>(name) + sizeof(PartName), arena.at<PartName>(name)->length};
}

bool lies_in(Text path, Text folder) {
  return path.length > folder.length && path.begin[folder.length] == '/' &&
         std::memcmp(path.begin, folder.begin, folder.length) == 0;
}

constexpr size_t longest_name = 4096;

// `path` in the folder `from`, as it is called now that the folder is called `to`.
bool moved_path(Text path, Text from, Text to, char (&result)[longest_name], size_t& length) {
  length = to.length + path.length - from.length;
  if (length >= sizeof result) return false;
  std::memcpy(result, to.begin, to.length);
  std::memcpy(result + to.length, path.begin + from.length, path.length - from.length);
  return true;
}

}  // namespace

uint32_t make_name(Arena& arena, const char* text, size_t length) {
  const uint32_t offset = arena.allocate(sizeof(PartName) + length);
  if (offset == 0) return 0;
  arena.at<PartName>(offset)->length = static_cast<uint32_t>(length);
  std::memcpy(arena.at<char>(offset) + sizeof(PartName), text, length);
  return offset;
}

bool name_is(const Arena& arena, uint32_t name, const char* text, size_t length) {
  const Text known = text_of(arena, name);
  return known.length == length && std::memcmp(known.begin, text, length) == 0;
}

uint32_t FileTable::find(const Arena& arena, const char* path, size_t length) const {
  if (!arena.is_open()) return 0;
  for (uint32_t at = by_path_[hash_of(path, length) % bucket_count]; at != 0;) {
    const auto* file = arena.at<PartFile>(at);
    if (name_is(arena, file->path, path, length)) return at;
    at = file->next_in_bucket;
  }
  return 0;
}

uint32_t FileTable::find_or_make(Arena& arena, const char* path) {
  const size_t length = std::strlen(path);
  if (const uint32_t found = find(arena, path, length)) return found;
  const uint32_t name = make_name(arena, path, length);
  uint32_t offset = 0;
  auto* file = name == 0 ? nullptr : arena.make<PartFile>(offset);
  if (file == nullptr) return 0;
  file->path = name;
  uint32_t& bucket = by_path_[hash_of(path, length) % bucket_count];
  file->next_in_bucket = bucket;
  bucket = offset;
  auto* part = arena.at<PartHeader>(0);
  file->next = part->files;
  part->files = offset;
  return offset;
}

bool FileTable::give_name(Arena& arena, uint32_t file, const char* name, size_t length) {
  uint32_t* link = &arena.at<PartFile>(file)->renamed;
  while (*link != 0 && !name_is(arena, arena.at<PartRename>(*link)->name, name, length)) {
    link = &arena.at<PartRename>(*link)->next;
  }
  uint32_t offset = *link;
  if (offset != 0) {
    *link = arena.at<PartRename>(offset)->next;  // it comes first again
  } else {
    const uint32_t text = make_name(arena, name, length);
    auto* made = text == 0 ? nullptr : arena.make<PartRename>(offset);
    if (made == nullptr) return false;
    made->name = text;
    made->file = file;
    uint32_t& bucket = by_name_[hash_of(name, length) % bucket_count];
    made->next_in_bucket = bucket;
    bucket = offset;
  }
  auto* rename = arena.at<PartRename>(offset);
  rename->since = renames_;
  rename->next = arena.at<PartFile>(file)->renamed;
  arena.at<PartFile>(file)->renamed = offset;
  return true;
}

uint64_t FileTable::move(Arena& arena, const char* from, const char* to) {
  const size_t from_length = std::strlen(from), to_length = std::strlen(to);
  uint64_t lost = 0;
  if (const uint32_t file = find(arena, from, from_length); file != 0) {
    if (!arena.at<PartFile>(file)->is_gone && !give_name(arena, file, to, to_length)) ++lost;
    arena.at<PartFile>(file)->is_gone = 1;
  }
  for (uint32_t at = by_name_[hash_of(from, from_length) % bucket_count]; at != 0;) {
    auto* rename = arena.at<PartRename>(at);
    at = rename->next_in_bucket;
    if (rename->since == 0 || rename->since == renames_) continue;  // of an exchange: just got it
    if (!name_is(arena, rename->name, from, from_length)) continue;
    rename->since = 0;
    if (!give_name(arena, rename->file, to, to_length)) ++lost;
  }
  return lost;
}

// The same for all that lies in a folder.
uint64_t FileTable::move_inside(Arena& arena, const char* from, const char* to) {
  const Text old_folder{from, std::strlen(from)}, new_folder{to, std::strlen(to)};
  char name[longest_name];
  size_t length = 0;
  uint64_t lost = 0;
  const auto rename_to = [&](uint32_t file, Text path) {
    if (!moved_path(path, old_folder, new_folder, name, length) || !give_name(arena, file, name, length))
      ++lost;
  };
  for (uint32_t at = arena.at<PartHeader>(0)->files; at != 0; at = arena.at<PartFile>(at)->next) {
    for (uint32_t r = arena.at<PartFile>(at)->renamed; r != 0;) {
      auto* rename = arena.at<PartRename>(r);
      r = rename->next;
      const Text path = text_of(arena, rename->name);
      if (rename->since == 0 || rename->since == renames_ || !lies_in(path, old_folder)) continue;
      rename->since = 0;
      rename_to(at, path);
    }
    auto* file = arena.at<PartFile>(at);
    const Text path = text_of(arena, file->path);
    if (file->is_gone || !lies_in(path, old_folder)) continue;
    rename_to(at, path);
    file->is_gone = 1;
  }
  return lost;
}

void FileTable::displace(const Arena& arena, const char* path) {
  const size_t length = std::strlen(path);
  if (const uint32_t file = find(arena, path, length); file != 0) arena.at<PartFile>(file)->is_gone = 1;
  for (uint32_t at = by_name_[hash_of(path, length) % bucket_count]; at != 0;) {
    auto* rename = arena.at<PartRename>(at);
    at = rename->next_in_bucket;
    if (name_is(arena, rename->name, path, length)) rename->since = 0;
  }
}

uint64_t FileTable::rename(Arena& arena, const char* from, const char* to, Rename kind) {
  if (!arena.is_open() || std::strcmp(from, to) == 0) return 0;
  ++renames_;
  if (kind == Rename::exchange) {
    return move(arena, from, to) + move_inside(arena, from, to) + move(arena, to, from) +
           move_inside(arena, to, from);
  }
  displace(arena, to);
  return move(arena, from, to) + (kind == Rename::folder ? move_inside(arena, from, to) : 0);
}

void FileTable::forget() {
  for (auto& bucket : by_path_) {
    if (bucket != 0) bucket = 0;
  }
  for (auto& bucket : by_name_) {
    if (bucket != 0) bucket = 0;
  }
  renames_ = 0;
}

}  // namespace neve::trace
