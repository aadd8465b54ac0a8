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

// Cheap and without the lock, asked before the clock is: false when nothing of this descriptor, or no open
// at all, is to be counted now.
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

// Descriptors. `opened` learns the file behind `fd` from the kernel.
FileIndex opened(int fd, int flags, Level level, Span when);
FileIndex file_of(int fd);
FileIndex closing(int fd);  // before it is closed: the number may be another file's right after
void duplicated(int from, int to, Span when);

void mpi_opened(FileIndex file, Span when);
void count(FileIndex file, Counter counter);
void transferred(FileIndex file, Level level, Direction direction, uint64_t bytes, Span when);
void spent_on_transfer(FileIndex file, Level level, Direction direction, Span when);
void spent_on_meta(FileIndex file, Level level, Span when);
void closed(FileIndex file, Level level, Span when);

// One POSIX or stdio transfer of `bytes`, at `offset` or, when that is -1, where the descriptor stands.
void posix_transfer(int fd, Direction direction, int64_t offset, int64_t bytes, Span when);
void stdio_transfer(int fd, Direction direction, int64_t bytes, Span when);
void seeked(int fd, int64_t offset, Level level, Span when);
void mapped_writable();

FileIndex file_named(const char* absolute_path);
void renamed(const char* absolute_from, const char* absolute_to);

void set_phase(const char* name);  // "" for none
void pause(bool paused);
void set_rank(int64_t rank, int64_t ranks);

// A loss that could not be prevented, to be told in the trace.
void not_kept(uint64_t bytes);

// The part as it stands and the name of its file, "" where it has none; and an end to it: a later access
// begins another one, and a FileIndex of another generation is void.
std::span<const std::byte> part_bytes();
const char* part_path();
void leave_part();
uint64_t generation();

const char* output_path();
const char* parts_folder();

}  // namespace neve::trace
