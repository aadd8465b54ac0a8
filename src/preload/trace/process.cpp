// SPDX-License-Identifier: BSD-3-Clause
// The process that is recorded: its beginning, fork, the right to record, its part.
#include <pthread.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "preload/trace/heat.hpp"
#include "preload/trace/shared_memory.hpp"
#include "preload/trace/state.hpp"

namespace neve::trace {

constinit State state{};  // there before any constructor runs
constinit thread_local int depth = 0;
std::atomic<uint64_t> reentrant_calls{0};

namespace {

std::atomic<int> ready{0};  // 0 not yet, 1 in the making, 2 done
std::atomic<pid_t> owner{0};

// Children made past fork's handlers (glibc's clone, a direct system call) are known by a page that the
// kernel hands to them empty. Where it cannot, this word says that there is none.
enum : uint32_t { child_begins, child_in_the_making, known };
constinit std::atomic<uint32_t> always_known{known};
constinit std::atomic<uint32_t>* process_mark = &always_known;

void make_process_mark() {
  constexpr size_t bytes = 4096;  // the kernel makes whole pages of it
  void* const page = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) return;
  if (madvise(page, bytes, MADV_WIPEONFORK) != 0) {
    munmap(page, bytes);
    return;
  }
  process_mark = static_cast<std::atomic<uint32_t>*>(page);
  process_mark->store(known);
}

pid_t this_process() { return static_cast<pid_t>(syscall(SYS_getpid)); }

double clock_seconds(clockid_t clock) {
  timespec t{};
  clock_gettime(clock, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

double epoch_of_monotonic = 0;

void forget() {
  state.files.forget();
  state.owed.forget();
  forget_descriptors();
  state.phase_name = state.phase_names = 0;
  state.arena_failed = false;
  ++state.generation;
}

// The parent counts what was before; here begins another process, whose descriptors are learnt again. Only
// the thread that forked is in it, and whichever held the lock is not.
void begin_child() {
  pthread_mutex_init(&state.lock, nullptr);
  state.arena.leave();
  forget();
  state.process_start = now();
  reentrant_calls.store(0);
  owner.store(this_process());
}

void before_fork() { pthread_mutex_lock(&state.lock); }
void after_fork_in_parent() {
  share_descriptions();
  pthread_mutex_unlock(&state.lock);
}
void after_fork_in_child() {
  begin_child();
  process_mark->store(known);
}

std::atomic_ref<uint32_t> unseen_children() { return std::atomic_ref(header()->unseen_children); }

void begin_unseen_child() {
  uint32_t mark = child_begins;
  if (!process_mark->compare_exchange_strong(mark, child_in_the_making)) {
    while (process_mark->load() != known) sched_yield();
    return;
  }
  ++depth;
  // The parent's part is mapped here too.
  if (state.arena.is_open()) unseen_children().store(1);
  begin_child();
  --depth;
  process_mark->store(known);
}

}  // namespace

double now() { return epoch_of_monotonic + clock_seconds(CLOCK_MONOTONIC); }

void be_ready() {
  if (ready.load(std::memory_order_acquire) == 2) {
    if (process_mark->load(std::memory_order_acquire) != known) begin_unseen_child();
    return;
  }
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
  make_process_mark();
  pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
  --depth;
  ready.store(2);
}

namespace {

__attribute__((constructor)) void at_load() {
  if (ready.load() == 0 && depth == 0) be_ready();
}

}  // namespace

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
  part->host = make_name(state.arena, machine.nodename, std::strlen(machine.nodename));
  const char* program = program_invocation_short_name;
  if (program != nullptr) part->program = make_name(state.arena, program, std::strlen(program));
  // There from the start, and so there when nothing else can be had any more.
  state.arena.make<PartHeatmap>(part->heatmap)->bin_seconds = first_bin_seconds;
  auto* overflow = state.arena.make<PartFile>(part->overflow);
  state.arena.make<PartPhase>(overflow->phases);
  part->used_bytes = state.arena.used_bytes();
  part->magic = part_magic;  // last: a part without it is not read
  return true;
}

uint32_t find_or_make_file(const char* path) {
  if (!open_arena()) return 0;
  const uint32_t found = state.files.find_or_make(state.arena, path);
  if (found == 0) return header()->overflow;
  state.arena.at<PartFile>(found)->is_gone = 0;
  return found;
}

namespace {

// A child that runs in its parent's memory (vfork, clone) has its own descriptors: what it does with them
// must not change the records of its parent's.
bool is_child_in_parents_memory() {
  if (!may_be_child_in_parents_memory()) return false;
  if (owner.load(std::memory_order_relaxed) != this_process()) return true;
  is_parent();
  return false;
}

}  // namespace

Recording::Recording(Of what) {
  if (depth > 0) {
    if (depth < own_work) reentrant_calls.fetch_add(1, std::memory_order_relaxed);
    return;
  }
  be_ready();
  if (what == Of::descriptors && is_child_in_parents_memory()) return;
  ++depth;
  pthread_mutex_lock(&state.lock);
  if (state.arena.is_open() && unseen_children().load(std::memory_order_relaxed) != 0) {
    unseen_children().store(0);
    share_descriptions();
  }
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
  about_to_end();
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

const char* output_path() { return state.settings.output; }
const char* parts_folder() { return state.settings.parts; }

}  // namespace neve::trace
