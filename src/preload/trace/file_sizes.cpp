// SPDX-License-Identifier: BSD-3-Clause
// How long files are, to be held against what was counted: what no call explains is told (model.hpp,
// FileSize).
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstring>

#include "preload/trace/state.hpp"

namespace neve::trace {

int64_t size_of(int fd, const Found& found) {
  struct stat status {};
  if (found.size >= 0) return found.size;
  return syscall(SYS_fstat, fd, &status) == 0 ? status.st_size : 0;
}

void note_size_at_open(int fd, const Found& found, bool emptied, double when) {
  auto& file = *state.arena.at<PartFile>(found.file);
  if (file.opened != 0 && !emptied) return;
  file.opened = when;
  file.size_at_open = emptied ? 0 : size_of(fd, found);
  if (!emptied) return;
  file.explained_end = 0;
  file.appended_bytes = 0;
}

namespace {

void note_size_now(PartFile& file, const struct stat& status) {
  file.closed = now();
  file.size_at_close = status.st_size;
  const bool has_names = status.st_nlink > 1;
  file.device = has_names ? status.st_dev : 0;
  file.number = has_names ? status.st_ino : 0;
}

FileNumber number_of(const struct stat& status) { return {status.st_dev, status.st_ino}; }

// The name that a file of the part was opened by.
bool name_of_file(uint32_t file, char (&path)[longest_path]) {
  const uint32_t name = state.arena.at<PartFile>(file)->path;
  if (name == 0) return false;  // of all files that there was no memory for
  const size_t length = state.arena.at<PartName>(name)->length;
  if (length >= sizeof path) return false;
  std::memcpy(path, state.arena.at<char>(name) + sizeof(PartName), length);
  path[length] = '\0';
  return true;
}

void pay(const OwedLooks::Look& owed) {
  char path[longest_path];
  struct stat status {};
  if (!name_of_file(owed.file, path)) return;
  if (syscall(SYS_newfstatat, AT_FDCWD, path, &status, AT_SYMLINK_NOFOLLOW) != 0) return;
  if (!(number_of(status) == owed.number)) return;
  note_size_now(*state.arena.at<PartFile>(owed.file), status);
}

// Whether a descriptor is still that of its description's file: it may have been closed past this library.
// Where the file's number was taken for that of an earlier open, another process may have put a file in its
// place.
bool is_still_open(int fd, const Description& description, const struct stat& status) {
  if (number_of(status) == description.number) return true;
  char path[longest_path], found[longest_path];
  return description.taken_for != 0 && name_of_file(description.file, path) &&
         name_of(fd, status.st_nlink == 0, found) && std::strcmp(path, found) == 0;
}

void look_at_end(int fd, const Description& description) {
  struct stat status {};
  if (!description.writable || syscall(SYS_fstat, fd, &status) != 0) return;
  if (!is_still_open(fd, description, status)) return;
  note_size_now(*state.arena.at<PartFile>(description.file), status);
}

}  // namespace

void pay_owed_looks() { state.owed.pay_all(pay); }

void note_size_at_close(int fd, const Description& description) {
  if (!description.writable) return;
  if (!description.has_stream && description.taken_for != 0 &&
      now() - description.taken_for < number_holds_seconds) {
    state.owed.owe(description.file, description.number, pay);
    return;
  }
  pay_owed_looks();
  look_at_end(fd, description);
}

void about_to_change_names() { pay_owed_looks(); }

void names_changed() { state.names_changed.fetch_add(1, std::memory_order_relaxed); }

void about_to_end() {
  pay_owed_looks();
  const int last = state.highest_descriptor.load();
  for (int fd = 0; fd <= last; ++fd) {
    const uint32_t held = entry(fd).load();
    if (held >= first_description) look_at_end(fd, state.descriptions[held - first_description]);
  }
}

void explain(const Description& description, int64_t end, uint64_t bytes, bool at_end_of_file) {
  if (bytes == 0) return;
  auto& file = *state.arena.at<PartFile>(description.file);
  if (end > file.explained_end) file.explained_end = end;
  if (at_end_of_file || description.is_shared) file.appended_bytes += bytes;
}

void resized(int fd, int64_t size, Resize how) {
  const FileIndex file = file_of(fd);
  if (file) file_resized(file, size, how);
}

void file_resized(FileIndex index, int64_t size, Resize how) {
  auto& file = *state.arena.at<PartFile>(index.offset);
  if (how == Resize::to || size > file.explained_end) file.explained_end = size;
}

}  // namespace neve::trace
