// SPDX-License-Identifier: BSD-3-Clause
// Reads and writes: where they land, and what they say of the file.
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "preload/trace/heat.hpp"
#include "preload/trace/state.hpp"
#include "preload/trace/streams.hpp"

namespace neve::trace {

namespace {

// Where a transfer of `bytes` that was just made began, and where the next one without an offset will.
int64_t place_of_transfer(int fd, Description& description, int64_t offset, int64_t bytes,
                          bool at_end_of_file) {
  if (offset >= 0 && !at_end_of_file) return offset;
  if (offset >= 0) {
    // Linux puts a pwrite to the end of a file that is open for appending, and leaves the descriptor where
    // it was.
    struct stat status {};
    return syscall(SYS_fstat, fd, &status) == 0 && status.st_size >= bytes ? status.st_size - bytes : offset;
  }
  offset = description.offset;
  if (at_end_of_file || description.is_shared || description.has_stream) {
    const long end = syscall(SYS_lseek, fd, 0, SEEK_CUR);
    if (end >= bytes) offset = end - bytes;
  }
  description.offset = offset + bytes;
  if (description.has_stream) {
    description.stream_offset = description.offset + static_cast<int64_t>(bytes_waiting(fd));
  }
  return offset;
}

}  // namespace

void posix_transfer(int fd, Direction direction, int64_t offset, int64_t bytes, Span when, Landing landing) {
  if (bytes < 0) return;
  Description* description = description_of(fd);
  if (description == nullptr) return;
  const FileIndex file{description->file};
  const bool writes = direction == Direction::write;
  const bool at_end_of_file = writes && (description->append || landing == Landing::at_end);
  offset = place_of_transfer(fd, *description, offset, bytes, at_end_of_file);
  if (writes) explain(*description, offset + bytes, static_cast<uint64_t>(bytes), at_end_of_file);
  if (is_paused()) return;
  transferred(file, Level::posix, direction, static_cast<uint64_t>(bytes), when);
  PartPhase& phase = current_phase(file);
  ++phase.counters[writes ? POSIX_WRITES : POSIX_READS];
  int64_t& last = state.arena.at<PartFile>(file.offset)->last_byte[static_cast<size_t>(direction)];
  if (offset > last) ++phase.counters[writes ? POSIX_SEQ_WRITES : POSIX_SEQ_READS];
  if (offset == last + 1) ++phase.counters[writes ? POSIX_CONSEC_WRITES : POSIX_CONSEC_READS];
  last = offset + bytes - 1;
  int64_t& farthest = phase.counters[writes ? POSIX_MAX_BYTE_WRITTEN : POSIX_MAX_BYTE_READ];
  if (last > farthest) farthest = last;
}

namespace {

// Moves the stream on by what was written to it, or read.
void move_stream(Description& description, Direction direction, int64_t bytes) {
  description.stream_offset += bytes;
  const bool writes = direction == Direction::write;
  if (writes) {
    explain(description, description.stream_offset, static_cast<uint64_t>(bytes), description.append);
  }
  if (is_paused()) return;
  PartPhase& phase = current_phase({description.file});
  int64_t& farthest = phase.counters[writes ? STDIO_MAX_BYTE_WRITTEN : STDIO_MAX_BYTE_READ];
  const int64_t last = description.stream_offset - 1;
  if (last > farthest) farthest = last;
}

}  // namespace

void stdio_transfer(int fd, Direction direction, int64_t bytes, Span when) {
  if (bytes < 0) return;
  Description* description = description_of(fd);
  if (description == nullptr) return;
  const FileIndex file{description->file};
  transferred(file, Level::stdio, direction, static_cast<uint64_t>(bytes), when);
  count(file, direction == Direction::write ? STDIO_WRITES : STDIO_READS);
  move_stream(*description, direction, bytes);
}

void stdio_inlined(int fd, uint64_t bytes, double when) {
  Description* description = description_of(fd);
  if (description == nullptr || bytes == 0) return;
  move_stream(*description, Direction::write, static_cast<int64_t>(bytes));
  if (is_paused()) return;
  PartPhase& phase = current_phase({description->file});
  phase.counters[STDIO_BYTES_INLINED] += static_cast<int64_t>(bytes);
  phase.counters[STDIO_BYTES_WRITTEN] += static_cast<int64_t>(bytes);
  stamp(phase, Level::stdio, WRITE_START_TIMESTAMP, WRITE_END_TIMESTAMP, {when, when});
  add_heat(*state.arena.at<PartHeatmap>(header()->heatmap), Level::stdio, Direction::write, bytes,
           when - state.process_start, when - state.process_start);
}

}  // namespace neve::trace
