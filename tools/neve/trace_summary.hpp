// SPDX-License-Identifier: BSD-3-Clause
// What a report says about one trace, or one Darshan log: the files that are asked for, in the order that is
// asked for, and their sums.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "neve/status.hpp"
#include "preload/trace/model.hpp"

namespace neve::cli {

enum class TraceSort { bytes, time, calls };

struct TraceSelection {
  std::vector<std::string> patterns;  // of files; none: all
  TraceSort sort = TraceSort::bytes;
};

inline constexpr trace::Level trace_levels[] = {trace::Level::mpiio, trace::Level::posix,
                                                trace::Level::stdio};

inline constexpr const char* level_title(trace::Level level) {
  return level == trace::Level::mpiio ? "MPI-IO" : level == trace::Level::posix ? "POSIX" : "stdio";
}

// Reads, writes, opens; bytes both ways; seconds in calls. What MPI-IO does reaches POSIX below it, so of the
// two the larger counts; stdio's buffers reach the kernel past any wrapper, and are added.
struct Moved {
  uint64_t calls = 0, bytes = 0;
  double seconds = 0;
};

struct Writers {
  std::set<int> mpiio, posix, stdio;  // processes that wrote a byte
};

struct FileRow {
  const std::string* path = nullptr;
  const trace::File* file = nullptr;
  Moved moved;
  uint64_t unexplained_bytes = 0;
};

struct ProcessRow {
  int process = 0;  // its index in the trace
  trace::Share share;
  Moved moved;
};

using SizeCounts = std::vector<std::pair<uint64_t, uint64_t>>;  // size, accesses

// Size -> accesses, reads and writes together, by level: what a Darshan log has of its most frequent sizes.
using LogSizes = std::array<std::map<uint64_t, uint64_t>, trace::level_count>;

struct TraceSummary {
  std::string label, path;
  trace::Trace trace;
  std::map<std::string, uint64_t> unexplained_bytes;  // Trace::unexplained_bytes of the whole trace
  std::vector<FileRow> files;                         // of the selection, in the order of the report
  std::vector<ProcessRow> processes;  // the ranks, or where there are none all processes; in that order
  std::map<std::string, trace::Counters> phases;
  trace::Counters total;
  trace::Counters under_mpi;  // of the files that were written through MPI-IO
  Writers writers;
  bool is_log = false;  // of Darshan
  // What a log has no counts of: names of counters; POSIX_SIZE: ranges of sizes; SHARES: what each process
  // did.
  std::set<std::string> absent;
  LogSizes log_sizes;
  std::vector<std::string> notes;  // that a reader of the counts must know, besides what the trace says

  bool lacks(const std::string& what) const { return absent.contains(what); }
  bool lacks(trace::Counter counter) const { return lacks(trace::counter_infos[counter].name); }
  bool lacks_sizes(trace::Level level) const {
    return lacks(std::string(trace::level_prefix(level)) + "_SIZE");
  }
};

Result<TraceSummary> summarize_trace(const std::string& path, const std::string& label,
                                     const TraceSelection& selection);

Moved moved_of(const trace::Counters& counters);
Moved moved_of(const trace::Share& share);
Writers writers_of(const trace::File& file);
std::string shown_name(const FileRow& row);
std::string process_name(const trace::Process& process);
// Bytes that reached POSIX for each handed to MPI-IO; "-" where one of them is not known.
std::string amplification(const TraceSummary& s, const trace::Counters& counters);
// The most frequent sizes of writes; of a log, of reads and writes.
SizeCounts frequent_sizes(const TraceSummary& s, trace::Level level, size_t how_many);
std::vector<std::string> trace_warnings(const TraceSummary& s);

}  // namespace neve::cli
