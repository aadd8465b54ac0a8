// SPDX-License-Identifier: BSD-3-Clause
// Counters of files: in which phase, and how a call changes them.
#include <cstring>

#include "preload/trace/heat.hpp"
#include "preload/trace/size_counts.hpp"
#include "preload/trace/state.hpp"

namespace neve::trace {

namespace {

constexpr uint32_t phase_limit = 64;

// The current phase's name in the part; 0 when no phase is named, or none more can be.
uint32_t current_phase_name() {
  if (state.phase[0] == '\0' || state.phase_name != 0) return state.phase_name;
  const size_t length = std::strlen(state.phase);
  for (uint32_t at = header()->phase_names; at != 0; at = state.arena.at<PartName>(at)->next) {
    if (name_is(state.arena, at, state.phase, length)) return state.phase_name = at;
  }
  const uint32_t made = state.phase_names < phase_limit ? make_name(state.arena, state.phase, length) : 0;
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

// Darshan's rule: time that calls of several threads spend together counts once.
void add_time(double& sum, double& last_end, Span when) {
  if (when.begin > last_end) {
    sum += when.end - when.begin;
  } else if (when.end > last_end) {
    sum += when.end - last_end;
  }
  if (when.end > last_end) last_end = when.end;
}

constexpr Counter bytes_counter[level_count][direction_count] = {{MPIIO_BYTES_READ, MPIIO_BYTES_WRITTEN},
                                                                 {POSIX_BYTES_READ, POSIX_BYTES_WRITTEN},
                                                                 {STDIO_BYTES_READ, STDIO_BYTES_WRITTEN}};

}  // namespace

PartPhase& current_phase(FileIndex index) {
  const uint32_t overflow = state.arena.at<PartFile>(header()->overflow)->phases;
  if (index.offset == header()->overflow) return *state.arena.at<PartPhase>(overflow);
  const uint32_t name = current_phase_name();
  auto* file = state.arena.at<PartFile>(index.offset);
  for (uint32_t at = file->phases; at != 0; at = state.arena.at<PartPhase>(at)->next) {
    if (state.arena.at<PartPhase>(at)->name == name) return *state.arena.at<PartPhase>(at);
  }
  uint32_t offset = 0;
  auto* phase = state.arena.make<PartPhase>(offset);
  if (phase == nullptr) return *state.arena.at<PartPhase>(overflow);
  phase->name = name;
  phase->next = file->phases;
  file->phases = offset;
  return *phase;
}

void stamp(PartPhase& phase, Level level, Time first, Time last, Span when) {
  double* times = phase.times[static_cast<size_t>(level)];
  if (times[first] == 0 || when.begin < times[first]) times[first] = when.begin;
  if (when.end > times[last]) times[last] = when.end;
  if (when.end > header()->last_event) header()->last_event = when.end;
}

void count(FileIndex file, Counter counter) {
  if (!file || is_paused()) return;
  PartPhase& phase = current_phase(file);
  ++phase.counters[counter];
}

void transferred(FileIndex file, Level level, Direction direction, uint64_t bytes, Span when) {
  if (!file || is_paused()) return;
  PartPhase& phase = current_phase(file);
  const auto l = static_cast<size_t>(level), d = static_cast<size_t>(direction);
  auto& record = *state.arena.at<PartFile>(file.offset);
  phase.counters[bytes_counter[l][d]] += static_cast<int64_t>(bytes);
  count_size(phase.accesses[l][d], bytes);
  const bool reads = direction == Direction::read;
  stamp(phase, level, reads ? READ_START_TIMESTAMP : WRITE_START_TIMESTAMP,
        reads ? READ_END_TIMESTAMP : WRITE_END_TIMESTAMP, when);
  add_heat(*state.arena.at<PartHeatmap>(header()->heatmap), level, direction, bytes,
           when.begin - state.process_start, when.end - state.process_start);
  double* times = phase.times[l];
  add_time(times[reads ? READ_TIME : WRITE_TIME], record.last_end[l][d], when);
  double& longest = times[reads ? MAX_READ_TIME : MAX_WRITE_TIME];
  if (when.end - when.begin > longest) longest = when.end - when.begin;
  if (level != Level::stdio) {
    const auto mine = static_cast<uint32_t>(1 + d);
    if (record.last_direction[l] != 0 && record.last_direction[l] != mine) {
      ++phase.counters[level == Level::mpiio ? MPIIO_RW_SWITCHES : POSIX_RW_SWITCHES];
    }
    record.last_direction[l] = mine;
  }
}

void spent_on_transfer(FileIndex file, Level level, Direction direction, Span when) {
  if (!file || is_paused()) return;
  PartPhase& phase = current_phase(file);
  const auto l = static_cast<size_t>(level), d = static_cast<size_t>(direction);
  const bool reads = direction == Direction::read;
  add_time(phase.times[l][reads ? READ_TIME : WRITE_TIME],
           state.arena.at<PartFile>(file.offset)->last_end[l][d], when);
  stamp(phase, level, reads ? READ_START_TIMESTAMP : WRITE_START_TIMESTAMP,
        reads ? READ_END_TIMESTAMP : WRITE_END_TIMESTAMP, when);
}

void spent_on_meta(FileIndex file, Level level, Span when) {
  if (!file || is_paused()) return;
  PartPhase& phase = current_phase(file);
  const auto l = static_cast<size_t>(level);
  add_time(phase.times[l][META_TIME], state.arena.at<PartFile>(file.offset)->last_end[l][2], when);
  if (when.end > header()->last_event) header()->last_event = when.end;
}

void mpi_opened(FileIndex file, Span when) {
  if (!file || is_paused()) return;
  stamp(current_phase(file), Level::mpiio, OPEN_START_TIMESTAMP, OPEN_END_TIMESTAMP, when);
  spent_on_meta(file, Level::mpiio, when);
}

void closed(FileIndex file, Level level, Span when) {
  if (!file || is_paused()) return;
  stamp(current_phase(file), level, CLOSE_START_TIMESTAMP, CLOSE_END_TIMESTAMP, when);
  spent_on_meta(file, level, when);
}

void mapped_writable() {
  if (open_arena()) ++header()->writable_maps;
}

FileIndex file_named(const char* absolute_path) {
  if (!state.settings.wants(absolute_path)) return {};
  return {find_or_make_file(absolute_path)};
}

FileIndex file_beyond() { return {open_arena() ? header()->overflow : 0}; }

void renamed(const char* absolute_from, const char* absolute_to, Rename kind) {
  if (!state.arena.is_open()) return;
  if (kind != Rename::plain) ++state.folders_renamed;
  if (const uint64_t lost = state.files.rename(state.arena, absolute_from, absolute_to, kind))
    header()->dropped_calls += lost;
}

}  // namespace neve::trace
