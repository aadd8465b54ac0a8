// SPDX-License-Identifier: BSD-3-Clause
// Counts what a process does, in its part. One recorder a process; the wrappers are its only callers.
// Nothing here allocates from the heap, throws, or changes errno.
#pragma once

#include <sys/types.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <span>

#include "preload/trace/counters.hpp"
#include "preload/trace/file_table.hpp"

namespace neve::trace {

double now();  // seconds since the epoch, never going back

// The right to record. A thread that is recording already does not get it: a signal handler that writes, or a
// function this library calls, must neither wait for its own thread's lock nor be counted twice.
class Recording {
 public:
  enum class Of { transfer, descriptors };
  explicit Recording(Of what = Of::transfer);
  ~Recording();
  Recording(const Recording&) = delete;
  Recording& operator=(const Recording&) = delete;
  explicit operator bool() const { return active_; }

 private:
  bool active_ = false;
  int errno_ = errno;
};

// While one lives, what its thread does is this library's own work and is not counted.
class OwnWork {
 public:
  OwnWork();
  ~OwnWork();
  OwnWork(const OwnWork&) = delete;
  OwnWork& operator=(const OwnWork&) = delete;
};

// Cheap, asked before the clock is: false when nothing of this descriptor, or no open at all, is to be
// counted now. A descriptor that was opened elsewhere is learnt here, before its first call.
bool may_count(int fd);
bool may_open();

// Files as they are reached: by descriptor, or by MPI-IO's name. An index of 0 is a file not traced. They
// hold until the thread gives its Recording back.
struct FileIndex {
  uint32_t offset = 0;
  explicit operator bool() const { return offset != 0; }
};

struct Span {
  double begin, end;
};

// Descriptors. `opened` learns the file behind `fd` from the kernel; `path` is what the process opened it by,
// nullptr where that is not from its own folder.
FileIndex opened(int fd, const char* path, int flags, Level level, Span when);
FileIndex file_of(int fd);
FileIndex closing(int fd);  // before it is closed: the number may be another file's right after
void duplicated(int from, int to, Span when);
void about_to_replace(int fd);  // by a duplicate of another
void set_append(int fd, bool append);
void folder_changed();  // the folder the process works in

void mpi_opened(FileIndex file, Span when);
void count(FileIndex file, Counter counter);
void transferred(FileIndex file, Level level, Direction direction, uint64_t bytes, Span when);
void spent_on_transfer(FileIndex file, Level level, Direction direction, Span when);
void spent_on_meta(FileIndex file, Level level, Span when);
void closed(FileIndex file, Level level, Span when);

// One POSIX or stdio transfer of `bytes`, at `offset` or, when that is -1, where the descriptor stands; where
// it asks for that, or its descriptor appends, at the end of the file.
enum class Landing { told, at_end };
void posix_transfer(int fd, Direction direction, int64_t offset, int64_t bytes, Span when,
                    Landing landing = Landing::told);
void stdio_transfer(int fd, Direction direction, int64_t bytes, Span when);
// Bytes that the program put into a stream's buffer without a call (streams.hpp).
void stdio_inlined(int fd, uint64_t bytes, double when);
void stream_begins(int fd);

// The file is as long as this now, or at least so.
enum class Resize { to, at_least };
void resized(int fd, int64_t size, Resize how);
void file_resized(FileIndex file, int64_t size, Resize how);

// This process takes a name from a file, or gives it to another: what it knows of names holds no more.
void about_to_change_names();
void names_changed();

// Files that are still open are closed with the process: how long they are now is told.
void about_to_end();
void seeked(int fd, int64_t offset, Level level, Span when);
void mapped_writable();

FileIndex file_named(const char* absolute_path);
FileIndex file_beyond();  // for what there is no place to know by name
void renamed(const char* absolute_from, const char* absolute_to, Rename kind);

void set_phase(const char* name);  // "" for none
void pause(bool paused);
void set_rank(int64_t rank, int64_t ranks);

// The part as it stands and the name of its file, "" where it has none; and an end to it: a later access
// begins another one, and a FileIndex of another generation is void.
std::span<const std::byte> part_bytes();
const char* part_path();
void leave_part();
uint64_t generation();

const char* output_path();
const char* parts_folder();

}  // namespace neve::trace
