// SPDX-License-Identifier: BSD-3-Clause
// Descriptors, and the files behind them.
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstring>

#include "preload/trace/state.hpp"
#include "preload/trace/streams.hpp"

namespace neve::trace {

namespace {

// A descriptor's name in /proc, without snprintf, which takes as long as all the rest of an open.
void put_link(int fd, char (&link)[32]) {
  static const char folder[] = "/proc/self/fd/";
  std::memcpy(link, folder, sizeof folder - 1);
  char digits[12];
  int count = 0;
  do digits[count++] = static_cast<char>('0' + fd % 10);
  while ((fd /= 10) > 0);
  char* to = link + sizeof folder - 1;
  while (count > 0) *to++ = digits[--count];
  *to = '\0';
}

}  // namespace

bool name_of(int fd, bool is_removed, char (&path)[longest_path]) {
  char link[32];
  put_link(fd, link);
  const long length = syscall(SYS_readlinkat, AT_FDCWD, link, path, sizeof path - 1);
  path[length > 0 ? length : 0] = '\0';
  if (length <= 0) return false;
  static const char deleted[] = " (deleted)";
  const auto suffix = static_cast<long>(sizeof deleted - 1);
  if (is_removed && length > suffix && std::strcmp(path + length - suffix, deleted) == 0) {
    path[length - suffix] = '\0';
  }
  return true;
}

namespace {

// Asks the kernel for the number and the size of an open file, and whether it is one that data can be stored
// in.
bool look_at(int fd, struct stat& status) {
  pay_owed_looks();
  return syscall(SYS_fstat, fd, &status) == 0 && S_ISREG(status.st_mode);
}

// The file behind an open descriptor. `opened_as` is the path it was just opened by, as the process would
// say it, or nullptr.
Found find_file(int fd, const char* opened_as, double when) {
  const uint64_t names_changed = state.names_changed.load(std::memory_order_relaxed);
  const uint64_t key = state.paths.key_of(opened_as, state.generation + (state.folders_renamed << 32));
  PathCache::Entry* const known = state.paths.find(key);
  if (known != nullptr && PathCache::still_holds(*known, when, names_changed)) {
    return {known->file, known->number, -1, known->seen};
  }
  struct stat status {};
  if (!look_at(fd, status)) return {};
  const FileNumber number{status.st_dev, status.st_ino};
  if (known != nullptr && known->number == number) {
    known->seen = when;
    known->names_changed = names_changed;
    return {known->file, number, status.st_size, 0};
  }
  char path[longest_path];
  const bool is_wanted = name_of(fd, status.st_nlink == 0, path) && state.settings.wants(path);
  const uint32_t file = is_wanted ? find_or_make_file(path) : 0;
  state.paths.remember({key, number, file, when, names_changed}, opened_as, path);
  return {file, number, status.st_size, 0};
}

void release(int fd) {
  if (!in_table(fd)) return;
  const uint32_t held = entry(fd).exchange(unknown);
  if (held == unknown) return;
  forget_stream(fd);
  if (held == not_traced) return;
  Description& description = state.descriptions[held - first_description];
  if (--description.references > 0) return;
  description.next_free = state.free_description;
  state.free_description = held;
}

void note_descriptor(int fd) {
  if (fd > state.highest_descriptor.load(std::memory_order_relaxed)) state.highest_descriptor.store(fd);
}

// A description for a descriptor that is open. Where there is no place for it, one for this moment.
Description& hold(int fd, const Found& found, int flags) {
  release(fd);
  Description* description = &state.beyond;
  if (in_table(fd) && (state.free_description != 0 || state.used_descriptions < descriptor_limit)) {
    uint32_t id = state.free_description;
    if (id != 0) {
      state.free_description = state.descriptions[id - first_description].next_free;
    } else {
      id = state.used_descriptions++ + first_description;
    }
    description = &state.descriptions[id - first_description];
    entry(fd).store(id);
    note_descriptor(fd);
  }
  *description = {};
  description->file = found.file;
  description->references = 1;
  description->append = (flags & O_APPEND) != 0;
  description->writable = (flags & O_ACCMODE) != O_RDONLY;
  description->number = found.number;
  description->taken_for = found.taken_for;
  return *description;
}

}  // namespace

Description* description_of(int fd) {
  if (fd < 0) return nullptr;
  const uint32_t held = in_table(fd) ? entry(fd).load() : unknown;
  if (held >= first_description) return &state.descriptions[held - first_description];
  if (held == not_traced) return nullptr;
  const Found found = find_file(fd, nullptr, now());
  if (found.file == 0) {
    if (in_table(fd)) entry(fd).store(not_traced);
    return nullptr;
  }
  const long flags = syscall(SYS_fcntl, fd, F_GETFL);
  Description& description = hold(fd, found, flags < 0 ? 0 : static_cast<int>(flags));
  const long at = syscall(SYS_lseek, fd, 0, SEEK_CUR);
  description.offset = description.stream_offset = at < 0 ? 0 : at;
  description.is_shared = true;
  if (description.writable) note_size_at_open(fd, found, false, now());
  return &description;
}

void forget_descriptors() {
  for (auto& fd : state.descriptors) {
    if (fd.load(std::memory_order_relaxed) != unknown) fd.store(unknown, std::memory_order_relaxed);
  }
  state.used_descriptions = state.free_description = 0;
  state.highest_descriptor.store(-1);
}

void share_descriptions() {
  for (uint32_t i = 0; i < state.used_descriptions; ++i) {
    Description& description = state.descriptions[i];
    if (description.is_shared) continue;
    description.is_shared = true;
    if (description.references == 0 || !description.writable) continue;
    // What several processes write from here on lies behind what this one has.
    auto& file = *state.arena.at<PartFile>(description.file);
    const int64_t grown = file.explained_end - file.size_at_open;
    if (grown > static_cast<int64_t>(file.appended_bytes)) file.appended_bytes = static_cast<uint64_t>(grown);
  }
}

bool may_count(int fd) {
  if (fd < 0 || depth >= own_work) return false;
  const uint32_t held = in_table(fd) ? entry(fd).load(std::memory_order_relaxed) : unknown;
  if (held == not_traced) return false;
  if (depth > 0) {
    reentrant_calls.fetch_add(1, std::memory_order_relaxed);
    return false;
  }
  be_ready();  // the clock must be right
  if (held != unknown) return true;
  // Learnt before the call is made: where it stood and how long the file was.
  Recording recording(Recording::Of::descriptors);
  return recording && description_of(fd) != nullptr;
}

bool may_open() {
  if (depth >= own_work) return false;
  if (depth == 0) be_ready();
  return depth == 0;
}

FileIndex opened(int fd, const char* path, int flags, Level level, Span when) {
  if (fd < 0) return {};
  release(fd);
  const Found found = find_file(fd, path, when.begin);
  if (found.file == 0) {
    if (in_table(fd)) entry(fd).store(not_traced);
    return {};
  }
  Description& description = hold(fd, found, flags);
  state.arena.at<PartFile>(found.file)->is_gone = 0;
  if (level == Level::stdio && description.append) description.stream_offset = size_of(fd, found);
  if (description.writable) note_size_at_open(fd, found, (flags & O_TRUNC) != 0, when.begin);
  const FileIndex file{found.file};
  if (!is_paused()) {
    stamp(current_phase(file), level, OPEN_START_TIMESTAMP, OPEN_END_TIMESTAMP, when);
  }
  spent_on_meta(file, level, when);
  return file;
}

FileIndex file_of(int fd) {
  const Description* description = description_of(fd);
  return {description == nullptr ? 0 : description->file};
}

FileIndex closing(int fd) {
  if (!in_table(fd)) return {};
  const uint32_t held = entry(fd).load();
  FileIndex file;
  if (held >= first_description) {
    const Description& description = state.descriptions[held - first_description];
    file.offset = description.file;
    if (description.references == 1) note_size_at_close(fd, description);
  }
  release(fd);
  return file;
}

void about_to_replace(int fd) {
  const uint32_t held = in_table(fd) ? entry(fd).load() : unknown;
  if (held < first_description) return;
  const Description& description = state.descriptions[held - first_description];
  if (description.references == 1) note_size_at_close(fd, description);
}

void set_append(int fd, bool append) {
  if (Description* description = description_of(fd)) description->append = append;
}

void folder_changed() { state.paths.folder_changed(); }

void duplicated(int from, int to, Span when) {
  if (from == to || to < 0) return;
  Description* description = description_of(from);
  release(to);
  if (description == nullptr) {
    if (in_table(from) && in_table(to)) entry(to).store(entry(from).load());
    return;
  }
  if (description != &state.beyond) {
    ++description->references;
    entry(to).store(entry(from).load());
    note_descriptor(to);
  }
  const FileIndex file{description->file};
  count(file, POSIX_OPENS);
  count(file, POSIX_DUPS);
  spent_on_meta(file, Level::posix, when);
}

void stream_begins(int fd) {
  Description* description = description_of(fd);
  if (description == nullptr || description->has_stream) return;
  description->has_stream = true;
  const long at = syscall(SYS_lseek, fd, 0, SEEK_CUR);
  if (at >= 0 && !description->append) description->stream_offset = at;
}

void seeked(int fd, int64_t offset, Level level, Span when) {
  Description* description = description_of(fd);
  if (description == nullptr) return;
  (level == Level::stdio ? description->stream_offset : description->offset) = offset;
  count({description->file}, level == Level::stdio ? STDIO_SEEKS : POSIX_SEEKS);
  spent_on_meta({description->file}, level, when);
}

}  // namespace neve::trace
