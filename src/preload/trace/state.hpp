// SPDX-License-Identifier: BSD-3-Clause
// What the recorder keeps of its process beside the part. The recorder's own files share it, and no other.
#pragma once

#include <pthread.h>
#include <sys/types.h>

#include <atomic>
#include <cstdint>

#include "preload/trace/arena.hpp"
#include "preload/trace/file_table.hpp"
#include "preload/trace/owed_looks.hpp"
#include "preload/trace/part.hpp"
#include "preload/trace/path_cache.hpp"
#include "preload/trace/recorder.hpp"
#include "preload/trace/settings.hpp"

namespace neve::trace {

constexpr uint32_t descriptor_limit = 65536;  // numbers above are looked up by name each time
constexpr uint32_t unknown = 0, not_traced = 1, first_description = 2;

// What several descriptors of one open file share.
struct Description {
  uint32_t file;
  uint32_t references;
  uint32_t next_free;
  bool append, writable;
  bool is_shared;         // another process may move its offset, so the kernel is asked for it
  bool has_stream;        // and so may the C library
  int64_t offset;         // of the next read or write without one
  int64_t stream_offset;  // the same for a stdio stream over it
  FileNumber number;      // of the file, to know it again
  double taken_for;  // when that number was seen last, where this open did not ask for it; 0 where it did
};

// All of it is zero at the start, so that it costs nothing in processes that do no input or output.
struct State {
  pthread_mutex_t lock;
  Settings settings;
  Arena arena;
  std::atomic<uint32_t> descriptors[descriptor_limit];
  Description descriptions[descriptor_limit];
  uint32_t used_descriptions, free_description;
  std::atomic<int> highest_descriptor;
  Description beyond;  // of the descriptor in use, where its number is beyond the table
  FileTable files;
  PathCache paths;
  OwedLooks owed;
  uint64_t folders_renamed;
  std::atomic<uint64_t> names_changed;
  char phase[128];
  uint32_t phase_name, phase_names;
  bool arena_failed;
  std::atomic<bool> paused;
  int64_t rank, ranks;
  double process_start;
  uint64_t generation;
};
extern State state;

// How deep this thread is in the recorder, or in this library's own work. Reached without the dynamic
// linker's allocating lookup.
extern constinit __attribute__((tls_model("initial-exec"))) thread_local int depth;
constexpr int own_work = 1 << 16;
extern std::atomic<uint64_t> reentrant_calls;

// Once the clock is right and fork is prepared for.
void be_ready();

inline PartHeader* header() { return state.arena.at<PartHeader>(0); }
inline bool is_paused() { return state.paused.load(std::memory_order_relaxed); }
bool open_arena();  // false where nothing can be kept

// A file's record, or the one for all files that there is no memory for. 0 when nothing is kept at all.
uint32_t find_or_make_file(const char* path);

inline bool in_table(int fd) { return fd >= 0 && static_cast<uint32_t>(fd) < descriptor_limit; }
inline std::atomic<uint32_t>& entry(int fd) { return state.descriptors[static_cast<uint32_t>(fd)]; }

// The description behind a descriptor; one this library has not seen opened (inherited, or opened inside the
// C library) is learnt from the kernel. nullptr where it is not traced.
Description* description_of(int fd);
void forget_descriptors();
// A child has them all from here on.
void share_descriptions();

// What the kernel calls an open file.
bool name_of(int fd, bool is_removed, char (&path)[longest_path]);

// The file behind a descriptor that was just opened.
struct Found {
  uint32_t file;  // 0: not traced
  FileNumber number;
  int64_t size;      // -1 where the kernel was not asked
  double taken_for;  // as of a Description
};

int64_t size_of(int fd, const Found& found);

// Sizes of files, to be held against what was counted (file_sizes.cpp).
void note_size_at_open(int fd, const Found& found, bool emptied, double when);
void note_size_at_close(int fd, const Description& description);
void pay_owed_looks();
// Up to where the bytes of this file are known to come from: `bytes` up to `end`.
void explain(const Description& description, int64_t end, uint64_t bytes, bool at_end_of_file);

// The counters of a file in the phase that the process is in.
PartPhase& current_phase(FileIndex file);
void stamp(PartPhase& phase, Level level, Time first, Time last, Span when);

}  // namespace neve::trace
