// SPDX-License-Identifier: BSD-3-Clause
#include "preload/trace/recorder.hpp"

#include <fcntl.h>
#include <pthread.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <climits>
#include <cstdio>
#include <cstring>

#include "preload/trace/arena.hpp"
#include "preload/trace/part.hpp"
#include "preload/trace/settings.hpp"

namespace neve::trace {
namespace {

constexpr uint32_t descriptor_limit = 65536;  // numbers above are looked up by name each time
constexpr uint32_t bucket_count = 4096;
constexpr uint32_t phase_limit = 64;
constexpr uint32_t unknown = 0, not_traced = 1, first_description = 2;

// What several descriptors of one open file share.
struct Description {
  uint32_t file;
  uint32_t references;
  uint32_t next_free;
  bool append;
  int64_t offset;         // of the next read or write without one
  int64_t stream_offset;  // the same for a stdio stream over it
};

// All of it is zero at the start, so that it costs nothing in processes that do no input or output.
struct State {
  pthread_mutex_t lock;
  Settings settings;
  Arena arena;
  std::atomic<uint32_t> descriptors[descriptor_limit];
  Description descriptions[descriptor_limit];
  uint32_t used_descriptions, free_description;
  uint32_t buckets[bucket_count];
  char phase[128];
  uint32_t phase_name, phase_names;
  bool arena_failed;
  std::atomic<bool> paused;
  int64_t rank, ranks;
  double process_start;
  uint64_t generation;
};
constinit State state{};  // there before any constructor runs

std::atomic<int> ready{0};  // 0 not yet, 1 in the making, 2 done
std::atomic<pid_t> owner{0};
std::atomic<uint64_t> reentrant_calls{0};
// Reached without the dynamic linker's allocating lookup.
__attribute__((tls_model("initial-exec"))) thread_local int depth = 0;
constexpr int own_work = 1 << 16;

pid_t this_process() { return static_cast<pid_t>(syscall(SYS_getpid)); }

double clock_seconds(clockid_t clock) {
  timespec t{};
  clock_gettime(clock, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

double epoch_of_monotonic = 0;

void forget() {
  for (auto& bucket : state.buckets) bucket = 0;
  for (auto& fd : state.descriptors) {
    if (fd.load(std::memory_order_relaxed) != unknown) fd.store(unknown, std::memory_order_relaxed);
  }
  state.used_descriptions = state.free_description = 0;
  state.phase_name = state.phase_names = 0;
  state.arena_failed = false;
  ++state.generation;
}

void before_fork() { pthread_mutex_lock(&state.lock); }
void after_fork_in_parent() { pthread_mutex_unlock(&state.lock); }
void after_fork_in_child() {
  // The parent counts what was before; here begins another process, whose descriptors are learnt again.
  state.arena.leave();
  forget();
  state.process_start = now();
  reentrant_calls.store(0);
  owner.store(this_process());
  pthread_mutex_unlock(&state.lock);
}

void get_ready() {
  int none = 0;
  if (!ready.compare_exchange_strong(none, 1)) {
    while (ready.load() != 2) sched_yield();
    return;
  }
  ++depth;
  pthread_mutex_init(&state.lock, nullptr);
  state.settings.read_environment();
  epoch_of_monotonic = clock_seconds(CLOCK_REALTIME) - clock_seconds(CLOCK_MONOTONIC);
  state.process_start = now();
  state.rank = -1;
  owner.store(this_process());
  pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
  --depth;
  ready.store(2);
}

__attribute__((constructor)) void at_load() {
  if (ready.load() == 0 && depth == 0) get_ready();
}

uint32_t make_name(const char* text, size_t length) {
  const uint32_t offset = state.arena.allocate(sizeof(PartName) + length);
  if (offset == 0) return 0;
  state.arena.at<PartName>(offset)->length = static_cast<uint32_t>(length);
  std::memcpy(state.arena.at<char>(offset) + sizeof(PartName), text, length);
  return offset;
}

bool name_is(uint32_t name, const char* text, size_t length) {
  return state.arena.at<PartName>(name)->length == length &&
         std::memcmp(state.arena.at<char>(name) + sizeof(PartName), text, length) == 0;
}

PartHeader* header() { return state.arena.at<PartHeader>(0); }

bool open_arena() {
  if (state.arena.is_open()) return true;
  if (state.arena_failed) return false;
  utsname machine{};
  uname(&machine);
  if (!state.arena.open(state.settings.parts, machine.nodename, state.settings.memory_bytes)) {
    state.arena_failed = true;
    static const char line[] = "neve trace: no memory for counts; this process is not traced\n";
    syscall(SYS_write, STDERR_FILENO, line, sizeof line - 1);
    return false;
  }
  PartHeader* part = header();
  part->process_id = static_cast<uint64_t>(this_process());
  part->rank = state.rank;
  part->ranks = state.ranks;
  part->process_start = part->last_event = state.process_start;
  part->host = make_name(machine.nodename, std::strlen(machine.nodename));
  const char* program = program_invocation_short_name;
  if (program != nullptr) part->program = make_name(program, std::strlen(program));
  part->used_bytes = state.arena.used_bytes();
  part->magic = part_magic;  // last: a part without it is not read
  return true;
}

uint32_t bucket_of(const char* text, size_t length) {
  uint64_t hash = 14695981039346656037ULL;  // FNV-1a
  for (size_t i = 0; i < length; ++i) hash = (hash ^ static_cast<unsigned char>(text[i])) * 1099511628211ULL;
  return static_cast<uint32_t>(hash % bucket_count);
}

uint32_t find_file(const char* path, size_t length) {
  if (!state.arena.is_open()) return 0;
  for (uint32_t at = state.buckets[bucket_of(path, length)]; at != 0;) {
    const auto* file = state.arena.at<PartFile>(at);
    if (name_is(file->path, path, length)) return at;
    at = file->next_in_bucket;
  }
  return 0;
}

uint32_t find_or_make_file(const char* path) {
  const size_t length = std::strlen(path);
  if (const uint32_t found = find_file(path, length)) return found;
  if (!open_arena()) return 0;
  const uint32_t name = make_name(path, length);
  uint32_t offset = 0;
  auto* file = name == 0 ? nullptr : state.arena.make<PartFile>(offset);
  if (file == nullptr) return 0;
  file->path = name;
  uint32_t& bucket = state.buckets[bucket_of(path, length)];
  file->next_in_bucket = bucket;
  bucket = offset;
  file->next = header()->files;
  header()->files = offset;
  return offset;
}

// The current phase's name in the part; 0 when no phase is named, or none more can be.
uint32_t current_phase_name() {
  if (state.phase[0] == '\0' || state.phase_name != 0) return state.phase_name;
  const size_t length = std::strlen(state.phase);
  for (uint32_t at = header()->phase_names; at != 0; at = state.arena.at<PartName>(at)->next) {
    if (name_is(at, state.phase, length)) return state.phase_name = at;
  }
  const uint32_t made = state.phase_names < phase_limit ? make_name(state.phase, length) : 0;
  if (made == 0) {
    ++header()->phases_beyond;
    state.phase[0] = '\0';
    return 0;
  }
  ++state.phase_names;
  state.arena.at<PartName>(made)->next = header()->phase_names;
  header()->phase_names = made;
  return state.phase_name = made;
}

PartPhase* current_phase(FileIndex index) {
  const uint32_t name = current_phase_name();
  auto* file = state.arena.at<PartFile>(index.offset);
  for (uint32_t at = file->phases; at != 0; at = state.arena.at<PartPhase>(at)->next) {
    if (state.arena.at<PartPhase>(at)->name == name) return state.arena.at<PartPhase>(at);
  }
  uint32_t offset = 0;
  auto* phase = state.arena.make<PartPhase>(offset);
  if (phase == nullptr) return nullptr;
  phase->name = name;
  phase->next = file->phases;
  file->phases = offset;
  return phase;
}

// What a file's open descriptor says of it. False: not a file to trace.
bool name_of(int fd, char (&path)[longest_path]) {
  struct stat status {};
  if (syscall(SYS_fstat, fd, &status) != 0 || !S_ISREG(status.st_mode)) return false;
  char link[64];
  std::snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  const long length = syscall(SYS_readlinkat, AT_FDCWD, link, path, sizeof path - 1);
  if (length <= 0) return false;
  path[length] = '\0';
  static const char deleted[] = " (deleted)";
  const auto suffix = static_cast<long>(sizeof deleted - 1);
  if (status.st_nlink == 0 && length > suffix && std::strcmp(path + length - suffix, deleted) == 0) {
    path[length - suffix] = '\0';
  }
  return state.settings.wants(path);
}

bool in_table(int fd) { return fd >= 0 && static_cast<uint32_t>(fd) < descriptor_limit; }

std::atomic<uint32_t>& entry(int fd) { return state.descriptors[static_cast<uint32_t>(fd)]; }

void release(int fd) {
  if (!in_table(fd)) return;
  const uint32_t held = entry(fd).exchange(unknown);
  if (held < first_description) return;
  Description& description = state.descriptions[held - first_description];
  if (--description.references > 0) return;
  description.next_free = state.free_description;
  state.free_description = held;
}

Description* hold(int fd, uint32_t file, int flags) {
  release(fd);
  uint32_t id = state.free_description;
  if (id != 0) {
    state.free_description = state.descriptions[id - first_description].next_free;
  } else {
    if (state.used_descriptions == descriptor_limit) return nullptr;
    id = state.used_descriptions++ + first_description;
  }
  Description& description = state.descriptions[id - first_description];
  description = {};
  description.file = file;
  description.references = 1;
  description.append = (flags & O_APPEND) != 0;
  entry(fd).store(id);
  return &description;
}

// The description behind a descriptor; one this library has not seen opened (inherited, or opened inside the
// C library) is learnt from the kernel.
Description* description_of(int fd) {
  if (!in_table(fd)) return nullptr;
  const uint32_t held = entry(fd).load();
  if (held >= first_description) return &state.descriptions[held - first_description];
  if (held == not_traced) return nullptr;
  char path[longest_path];
  uint32_t file = 0;
  if (!name_of(fd, path) || (file = find_or_make_file(path)) == 0) {
    entry(fd).store(not_traced);
    return nullptr;
  }
  const long flags = syscall(SYS_fcntl, fd, F_GETFL);
  Description* description = hold(fd, file, flags < 0 ? 0 : static_cast<int>(flags));
  if (description != nullptr) {
    const long at = syscall(SYS_lseek, fd, 0, SEEK_CUR);
    description->offset = description->stream_offset = at < 0 ? 0 : at;
  }
  return description;
}

void dropped(uint64_t bytes) {
  if (!state.arena.is_open()) return;
  ++header()->dropped_calls;
  header()->dropped_bytes += bytes;
}

// Darshan's rule: time that calls of several threads spend together counts once.
void add_time(double& sum, double& last_end, Span when) {
  if (when.begin > last_end) {
    sum += when.end - when.begin;
  } else if (when.end > last_end) {
    sum += when.end - last_end;
  }
  if (when.end > last_end) last_end = when.end;
}

void stamp(PartPhase& phase, Level level, Time first, Time last, Span when) {
  double* times = phase.times[static_cast<size_t>(level)];
  if (times[first] == 0 || when.begin < times[first]) times[first] = when.begin;
  if (when.end > times[last]) times[last] = when.end;
  if (when.end > header()->last_event) header()->last_event = when.end;
}

uint64_t mixed(uint64_t x) {
  x ^= x >> 32;
  x *= 0x9e3779b97f4a7c15ULL;
  return x ^ (x >> 29);
}

PartSize& place_of(PartSize* map, uint32_t capacity, uint64_t bytes) {
  auto i = static_cast<uint32_t>(mixed(bytes)) & (capacity - 1);
  while (map[i].count != 0 && map[i].bytes != bytes) i = (i + 1) & (capacity - 1);
  return map[i];
}

void count_size(PartAccesses& accesses, uint64_t bytes) {
  ++accesses.bins[bin_of(bytes)];
  if (accesses.map_capacity != 0) {
    PartSize& place = place_of(state.arena.at<PartSize>(accesses.map), accesses.map_capacity, bytes);
    if (place.count != 0) {
      ++place.count;
      return;
    }
  }
  // Another size. The map is kept at most three quarters full.
  if (accesses.map_used < state.settings.sizes && accesses.map_used + 1 > accesses.map_capacity / 4 * 3) {
    const uint32_t capacity = accesses.map_capacity == 0 ? 16 : accesses.map_capacity * 2;
    if (const uint32_t larger = state.arena.allocate(capacity * sizeof(PartSize)); larger != 0) {
      auto* to = state.arena.at<PartSize>(larger);
      const auto* from = state.arena.at<PartSize>(accesses.map);
      for (uint32_t i = 0; i < accesses.map_capacity; ++i) {
        if (from[i].count != 0) place_of(to, capacity, from[i].bytes) = from[i];
      }
      // A process killed between these two leaves a map whose rest is read as zeros, or not at all.
      accesses.map = larger;
      accesses.map_capacity = capacity;
    }
  }
  if (accesses.map_used >= state.settings.sizes || accesses.map_used + 1 > accesses.map_capacity / 4 * 3) {
    ++accesses.overflow_calls;
    accesses.overflow_bytes += bytes;
    return;
  }
  PartSize& place = place_of(state.arena.at<PartSize>(accesses.map), accesses.map_capacity, bytes);
  place.bytes = bytes;
  place.count = 1;
  ++accesses.map_used;
}

constexpr Counter bytes_counter[level_count][direction_count] = {{MPIIO_BYTES_READ, MPIIO_BYTES_WRITTEN},
                                                                 {POSIX_BYTES_READ, POSIX_BYTES_WRITTEN},
                                                                 {STDIO_BYTES_READ, STDIO_BYTES_WRITTEN}};

}  // namespace

double now() { return epoch_of_monotonic + clock_seconds(CLOCK_MONOTONIC); }

Recording::Recording(Of what) {
  if (depth > 0) {
    if (depth < own_work) reentrant_calls.fetch_add(1, std::memory_order_relaxed);
    return;
  }
  if (ready.load(std::memory_order_acquire) != 2) get_ready();
  // After vfork the child has its parent's memory but its own descriptors.
  if (what == Of::descriptors && owner.load(std::memory_order_relaxed) != this_process()) return;
  ++depth;
  pthread_mutex_lock(&state.lock);
  active_ = true;
}

Recording::~Recording() {
  if (active_) {
    if (state.arena.is_open()) header()->reentrant_calls = reentrant_calls.load(std::memory_order_relaxed);
    pthread_mutex_unlock(&state.lock);
    --depth;
  }
  errno = errno_;
}

OwnWork::OwnWork() { depth += own_work; }
OwnWork::~OwnWork() { depth -= own_work; }

bool may_count(int fd) {
  if (fd < 0 || depth >= own_work) return false;
  if (in_table(fd) && entry(fd).load(std::memory_order_relaxed) == not_traced) return false;
  if (depth > 0) {
    reentrant_calls.fetch_add(1, std::memory_order_relaxed);
    return false;
  }
  if (ready.load(std::memory_order_acquire) != 2) get_ready();  // the clock must be right
  return true;
}

bool may_open() {
  if (depth >= own_work) return false;
  if (depth == 0 && ready.load(std::memory_order_acquire) != 2) get_ready();
  return depth == 0;
}

FileIndex opened(int fd, int flags, Level level, Span when) {
  if (!in_table(fd)) return {};
  release(fd);
  char path[longest_path];
  if (!name_of(fd, path)) {
    entry(fd).store(not_traced);
    return {};
  }
  const FileIndex file{find_or_make_file(path)};
  if (!file) {
    entry(fd).store(not_traced);
    dropped(0);
    return {};
  }
  hold(fd, file.offset, flags);
  if (PartPhase* phase = current_phase(file))
    stamp(*phase, level, OPEN_START_TIMESTAMP, OPEN_END_TIMESTAMP, when);
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
  const FileIndex file{held < first_description ? 0 : state.descriptions[held - first_description].file};
  release(fd);
  return file;
}

void duplicated(int from, int to, Span when) {
  if (from == to || !in_table(to)) return;
  Description* description = description_of(from);
  release(to);
  if (description == nullptr) {
    if (in_table(from)) entry(to).store(entry(from).load());
    return;
  }
  ++description->references;
  entry(to).store(entry(from).load());
  const FileIndex file{description->file};
  count(file, POSIX_OPENS);
  count(file, POSIX_DUPS);
  spent_on_meta(file, Level::posix, when);
}

void count(FileIndex file, Counter counter) {
  if (!file || state.paused.load(std::memory_order_relaxed)) return;
  PartPhase* phase = current_phase(file);
  if (phase == nullptr) return dropped(0);
  ++phase->counters[counter];
}

void transferred(FileIndex file, Level level, Direction direction, uint64_t bytes, Span when) {
  if (!file || state.paused.load(std::memory_order_relaxed)) return;
  PartPhase* phase = current_phase(file);
  if (phase == nullptr) return dropped(bytes);
  const auto l = static_cast<size_t>(level), d = static_cast<size_t>(direction);
  auto& record = *state.arena.at<PartFile>(file.offset);
  phase->counters[bytes_counter[l][d]] += static_cast<int64_t>(bytes);
  count_size(phase->accesses[l][d], bytes);
  const bool reads = direction == Direction::read;
  stamp(*phase, level, reads ? READ_START_TIMESTAMP : WRITE_START_TIMESTAMP,
        reads ? READ_END_TIMESTAMP : WRITE_END_TIMESTAMP, when);
  double* times = phase->times[l];
  add_time(times[reads ? READ_TIME : WRITE_TIME], record.last_end[l][d], when);
  double& longest = times[reads ? MAX_READ_TIME : MAX_WRITE_TIME];
  if (when.end - when.begin > longest) longest = when.end - when.begin;
  if (level != Level::stdio) {
    const auto mine = static_cast<uint32_t>(1 + d);
    if (record.last_direction[l] != 0 && record.last_direction[l] != mine) {
      ++phase->counters[level == Level::mpiio ? MPIIO_RW_SWITCHES : POSIX_RW_SWITCHES];
    }
    record.last_direction[l] = mine;
  }
}

void spent_on_transfer(FileIndex file, Level level, Direction direction, Span when) {
  if (!file || state.paused.load(std::memory_order_relaxed)) return;
  PartPhase* phase = current_phase(file);
  if (phase == nullptr) return dropped(0);
  const auto l = static_cast<size_t>(level), d = static_cast<size_t>(direction);
  const bool reads = direction == Direction::read;
  add_time(phase->times[l][reads ? READ_TIME : WRITE_TIME],
           state.arena.at<PartFile>(file.offset)->last_end[l][d], when);
  stamp(*phase, level, reads ? READ_START_TIMESTAMP : WRITE_START_TIMESTAMP,
        reads ? READ_END_TIMESTAMP : WRITE_END_TIMESTAMP, when);
}

void spent_on_meta(FileIndex file, Level level, Span when) {
  if (!file || state.paused.load(std::memory_order_relaxed)) return;
  PartPhase* phase = current_phase(file);
  if (phase == nullptr) return dropped(0);
  const auto l = static_cast<size_t>(level);
  add_time(phase->times[l][META_TIME], state.arena.at<PartFile>(file.offset)->last_end[l][2], when);
  if (when.end > header()->last_event) header()->last_event = when.end;
}

void mpi_opened(FileIndex file, Span when) {
  if (!file || state.paused.load(std::memory_order_relaxed)) return;
  if (PartPhase* phase = current_phase(file)) {
    stamp(*phase, Level::mpiio, OPEN_START_TIMESTAMP, OPEN_END_TIMESTAMP, when);
  }
  spent_on_meta(file, Level::mpiio, when);
}

void closed(FileIndex file, Level level, Span when) {
  if (!file || state.paused.load(std::memory_order_relaxed)) return;
  if (PartPhase* phase = current_phase(file))
    stamp(*phase, level, CLOSE_START_TIMESTAMP, CLOSE_END_TIMESTAMP, when);
  spent_on_meta(file, level, when);
}

void posix_transfer(int fd, Direction direction, int64_t offset, int64_t bytes, Span when) {
  if (bytes < 0) return;
  Description* description = description_of(fd);
  if (description == nullptr) return;
  const FileIndex file{description->file};
  const bool writes = direction == Direction::write;
  if (offset < 0) {
    offset = description->offset;
    if (writes && description->append) {
      // The kernel put it at the end, wherever that was; where the file stands now tells.
      const long end = syscall(SYS_lseek, fd, 0, SEEK_CUR);
      if (end >= bytes) offset = end - bytes;
    }
    description->offset = offset + bytes;
  }
  transferred(file, Level::posix, direction, static_cast<uint64_t>(bytes), when);
  PartPhase* phase = state.paused.load(std::memory_order_relaxed) ? nullptr : current_phase(file);
  if (phase == nullptr) return;
  ++phase->counters[writes ? POSIX_WRITES : POSIX_READS];
  int64_t& last = state.arena.at<PartFile>(file.offset)->last_byte[static_cast<size_t>(direction)];
  if (offset > last) ++phase->counters[writes ? POSIX_SEQ_WRITES : POSIX_SEQ_READS];
  if (offset == last + 1) ++phase->counters[writes ? POSIX_CONSEC_WRITES : POSIX_CONSEC_READS];
  last = offset + bytes - 1;
  int64_t& farthest = phase->counters[writes ? POSIX_MAX_BYTE_WRITTEN : POSIX_MAX_BYTE_READ];
  if (last > farthest) farthest = last;
}

void stdio_transfer(int fd, Direction direction, int64_t bytes, Span when) {
  if (bytes < 0) return;
  Description* description = description_of(fd);
  if (description == nullptr) return;
  const FileIndex file{description->file};
  const bool writes = direction == Direction::write;
  description->stream_offset += bytes;
  const int64_t last = description->stream_offset - 1;
  transferred(file, Level::stdio, direction, static_cast<uint64_t>(bytes), when);
  PartPhase* phase = state.paused.load(std::memory_order_relaxed) ? nullptr : current_phase(file);
  if (phase == nullptr) return;
  ++phase->counters[writes ? STDIO_WRITES : STDIO_READS];
  int64_t& farthest = phase->counters[writes ? STDIO_MAX_BYTE_WRITTEN : STDIO_MAX_BYTE_READ];
  if (last > farthest) farthest = last;
}

void seeked(int fd, int64_t offset, Level level, Span when) {
  Description* description = description_of(fd);
  if (description == nullptr) return;
  (level == Level::stdio ? description->stream_offset : description->offset) = offset;
  count({description->file}, level == Level::stdio ? STDIO_SEEKS : POSIX_SEEKS);
  spent_on_meta({description->file}, level, when);
}

void mapped_writable() {
  if (open_arena()) ++header()->writable_maps;
}

FileIndex file_named(const char* absolute_path) {
  if (!state.settings.wants(absolute_path)) return {};
  const FileIndex file{find_or_make_file(absolute_path)};
  if (!file) dropped(0);
  return file;
}

void renamed(const char* absolute_from, const char* absolute_to) {
  const uint32_t offset = find_file(absolute_from, std::strlen(absolute_from));
  if (offset == 0) return;
  auto* file = state.arena.at<PartFile>(offset);
  const size_t length = std::strlen(absolute_to);
  for (uint32_t at = file->renamed; at != 0; at = state.arena.at<PartName>(at)->next) {
    if (name_is(at, absolute_to, length)) return;
  }
  const uint32_t name = make_name(absolute_to, length);
  if (name == 0) return dropped(0);
  state.arena.at<PartName>(name)->next = file->renamed;
  file->renamed = name;
}

void set_phase(const char* name) {
  std::snprintf(state.phase, sizeof state.phase, "%s", name == nullptr ? "" : name);
  state.phase_name = 0;
}

void pause(bool paused) { state.paused.store(paused); }

void set_rank(int64_t rank, int64_t ranks) {
  state.rank = rank;
  state.ranks = ranks;
  if (state.arena.is_open()) header()->rank = rank, header()->ranks = ranks;
}

std::span<const std::byte> part_bytes() {
  // A process that has done nothing yet has a part all the same: which ranks took part is told by them.
  if (!open_arena()) return {};
  if (now() > header()->last_event) header()->last_event = now();
  return {state.arena.bytes(), state.arena.used_bytes()};
}

const char* part_path() { return state.arena.path(); }

void leave_part() {
  state.arena.leave();
  reentrant_calls.store(0);
  forget();
}

uint64_t generation() { return state.generation; }

void not_kept(uint64_t bytes) { dropped(bytes); }

const char* output_path() { return state.settings.output; }
const char* parts_folder() { return state.settings.parts; }

}  // namespace neve::trace
