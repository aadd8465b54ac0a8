// SPDX-License-Identifier: BSD-3-Clause
// A trace: what all processes of a run did to files. Parts, ranks' reductions and JSON files all become one
// of these, and two of them merge.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "preload/trace/counters.hpp"

namespace neve::trace {

struct Accesses {
  std::array<uint64_t, bin_count> bins{};
  std::map<uint64_t, uint64_t> sizes;  // bytes -> accesses
  uint64_t overflow_calls = 0, overflow_bytes = 0;

  void merge(const Accesses& other);
  uint64_t calls() const;
};

struct Counters {
  std::array<int64_t, counter_count> values{};
  std::array<std::array<double, time_count>, level_count> times{};
  std::array<std::array<Accesses, direction_count>, level_count> accesses;

  void merge(const Counters& other);
  bool touched(Level level) const;  // anything counted at this level
  const Accesses& at(Level level, Direction direction) const {
    return accesses[static_cast<size_t>(level)][static_cast<size_t>(direction)];
  }
  Accesses& at(Level level, Direction direction) {
    return accesses[static_cast<size_t>(level)][static_cast<size_t>(direction)];
  }
};

// The most frequent sizes, as Darshan's ACCESS counters: by count, then larger first; calls without data
// (ranks that have nothing in a collective call) are not among them.
std::vector<std::pair<uint64_t, uint64_t>> top_sizes(const std::vector<const Accesses*>& of, size_t how_many);

// One process's part in a file: calls and bytes, by level and direction.
struct Share {
  std::array<std::array<uint64_t, direction_count>, level_count> calls{}, bytes{};
  std::array<std::array<double, direction_count>, level_count> seconds{};
  void merge(const Share& other);
  bool is_empty() const;
};

// How long a file was when a process first could write to it and when one last let it go, and how far what
// was counted reaches. A file that is longer was written by other means.
struct FileSize {
  int64_t at_open = -1, at_close = -1;  // bytes; -1 not known
  double opened = 0, closed = 0;        // when
  int64_t explained_end = 0;            // farthest end of a counted write, truncation or allocation
  uint64_t appended_bytes = 0;  // of writes that land where the kernel's position is, not the process's
  std::string inode = {};       // device:number of a file that has several names; "": it has one

  void merge(const FileSize& other);
  uint64_t unexplained_bytes() const;
};

struct File {
  std::vector<std::string> renamed_to;     // the latest name first
  std::map<std::string, Counters> phases;  // "" holds what came before any phase was named
  std::map<int, Share> shares;             // by index into Trace::processes
  FileSize size;

  Counters total() const;
};

// Bytes of a process over time, from its start on. Trailing zeros are cut.
struct Heatmap {
  static bool is_width(double seconds);  // first_bin_seconds, doubled some times

  double bin_seconds = first_bin_seconds;
  std::array<std::array<std::vector<uint64_t>, direction_count>, level_count> bytes;

  bool is_empty() const;
  void cut_zeros();
  void widen_to(double seconds);  // a power of two times bin_seconds
  void merge(const Heatmap& other);
};

struct Process {
  std::string host;
  uint64_t id = 0;
  double start = 0;  // seconds since the epoch
  std::string program;
  int64_t rank = -1, ranks = 0;
  double end = 0;
  Heatmap heatmap;
  Share overflow;  // what it did to files that are in Trace::overflow
  bool same_as(const Process& other) const {
    return id == other.id && start == other.start && host == other.host;
  }
};

struct Trace {
  std::vector<std::string> command;
  std::vector<Process> processes;
  std::map<std::string, File> files;
  // Calls that were counted, but not by file, since there was no memory for another one.
  Counters overflow;
  // What the processes could not keep.
  uint64_t dropped_calls = 0, dropped_bytes = 0, reentrant_calls = 0, phases_beyond = 0, writable_maps = 0;
  uint64_t unreadable_parts = 0;

  double start() const;  // of the first process, 0 when there is none
  double end() const;
  void merge(const Trace& other);
  // By path, of the files that have some. What was written by any name of a file explains it.
  std::map<std::string, uint64_t> unexplained_bytes() const;
};

// Bytes that reached POSIX for each byte handed to MPI-IO; 0 when none was.
double write_amplification(const Counters& counters);

}  // namespace neve::trace
