// SPDX-License-Identifier: BSD-3-Clause
// What is counted for a file, under the names Darshan gives to the same things. The same lists shape the
// record in a process's memory, the merged trace and its JSON.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace neve::trace {

enum class Level { mpiio, posix, stdio };
inline constexpr int level_count = 3;
enum class Direction { read, write };
inline constexpr int direction_count = 2;

enum class Rule { sum, max };

// X(name, level, how two processes' values become one)
#define NEVE_TRACE_COUNTERS(X)                                                  \
  X(MPIIO_INDEP_OPENS, mpiio, sum)                                              \
  X(MPIIO_COLL_OPENS, mpiio, sum)                                               \
  X(MPIIO_INDEP_READS, mpiio, sum)                                              \
  X(MPIIO_INDEP_WRITES, mpiio, sum)                                             \
  X(MPIIO_COLL_READS, mpiio, sum)                                               \
  X(MPIIO_COLL_WRITES, mpiio, sum)                                              \
  X(MPIIO_SPLIT_READS, mpiio, sum)                                              \
  X(MPIIO_SPLIT_WRITES, mpiio, sum)                                             \
  X(MPIIO_NB_READS, mpiio, sum)                                                 \
  X(MPIIO_NB_WRITES, mpiio, sum)                                                \
  X(MPIIO_SYNCS, mpiio, sum)                                                    \
  X(MPIIO_HINTS, mpiio, sum)                                                    \
  X(MPIIO_VIEWS, mpiio, sum)                                                    \
  X(MPIIO_SET_SIZES, mpiio, sum)                                                \
  X(MPIIO_BYTES_READ, mpiio, sum)                                               \
  X(MPIIO_BYTES_WRITTEN, mpiio, sum)                                            \
  X(MPIIO_RW_SWITCHES, mpiio, sum)                                              \
  X(POSIX_OPENS, posix, sum)                                                    \
  X(POSIX_DUPS, posix, sum)                                                     \
  X(POSIX_READS, posix, sum)                                                    \
  X(POSIX_WRITES, posix, sum)                                                   \
  X(POSIX_SEEKS, posix, sum)                                                    \
  X(POSIX_MMAPS, posix, sum)                                                    \
  X(POSIX_FSYNCS, posix, sum)                                                   \
  X(POSIX_FDSYNCS, posix, sum)                                                  \
  X(POSIX_TRUNCATES, posix, sum)                                                \
  X(POSIX_ALLOCATES, posix, sum)                                                \
  X(POSIX_BYTES_READ, posix, sum)                                               \
  X(POSIX_BYTES_WRITTEN, posix, sum)                                            \
  X(POSIX_MAX_BYTE_READ, posix, max)                                            \
  X(POSIX_MAX_BYTE_WRITTEN, posix, max)                                         \
  X(POSIX_CONSEC_READS, posix, sum)                                             \
  X(POSIX_CONSEC_WRITES, posix, sum)                                            \
  X(POSIX_SEQ_READS, posix, sum)                                                \
  X(POSIX_SEQ_WRITES, posix, sum)                                               \
  X(POSIX_RW_SWITCHES, posix, sum)                                              \
  X(STDIO_OPENS, stdio, sum)                                                    \
  X(STDIO_FDOPENS, stdio, sum)                                                  \
  X(STDIO_READS, stdio, sum)                                                    \
  X(STDIO_WRITES, stdio, sum)                                                   \
  X(STDIO_SEEKS, stdio, sum)                                                    \
  X(STDIO_FLUSHES, stdio, sum)                                                  \
  X(STDIO_BYTES_READ, stdio, sum)                                               \
  X(STDIO_BYTES_WRITTEN, stdio, sum)                                            \
  X(STDIO_MAX_BYTE_READ, stdio, max)                                            \
  X(STDIO_MAX_BYTE_WRITTEN, stdio, max)                                         \
  /* Of STDIO_BYTES_WRITTEN, what was seen in a buffer and not call by call. */ \
  X(STDIO_BYTES_INLINED, stdio, sum)

enum Counter : uint32_t {
#define NEVE_TRACE_X(name, level, rule) name,
  NEVE_TRACE_COUNTERS(NEVE_TRACE_X)
#undef NEVE_TRACE_X
      counter_count
};

struct CounterInfo {
  const char* name;
  Level level;
  Rule rule;
};
inline constexpr std::array<CounterInfo, counter_count> counter_infos = {{
#define NEVE_TRACE_X(name, level, rule) {#name, Level::level, Rule::rule},
    NEVE_TRACE_COUNTERS(NEVE_TRACE_X)
#undef NEVE_TRACE_X
}};

// Seconds since the epoch, or of duration; 0 is none. Every level has all of them.
enum Time : uint32_t {
  OPEN_START_TIMESTAMP,
  READ_START_TIMESTAMP,
  WRITE_START_TIMESTAMP,
  CLOSE_START_TIMESTAMP,
  OPEN_END_TIMESTAMP,
  READ_END_TIMESTAMP,
  WRITE_END_TIMESTAMP,
  CLOSE_END_TIMESTAMP,
  READ_TIME,
  WRITE_TIME,
  META_TIME,
  MAX_READ_TIME,
  MAX_WRITE_TIME,
  time_count
};
enum class TimeRule { earliest, latest, sum, max };
struct TimeInfo {
  const char* name;
  TimeRule rule;
};
inline constexpr std::array<TimeInfo, time_count> time_infos = {{
    {"OPEN_START_TIMESTAMP", TimeRule::earliest},
    {"READ_START_TIMESTAMP", TimeRule::earliest},
    {"WRITE_START_TIMESTAMP", TimeRule::earliest},
    {"CLOSE_START_TIMESTAMP", TimeRule::earliest},
    {"OPEN_END_TIMESTAMP", TimeRule::latest},
    {"READ_END_TIMESTAMP", TimeRule::latest},
    {"WRITE_END_TIMESTAMP", TimeRule::latest},
    {"CLOSE_END_TIMESTAMP", TimeRule::latest},
    {"READ_TIME", TimeRule::sum},
    {"WRITE_TIME", TimeRule::sum},
    {"META_TIME", TimeRule::sum},
    {"MAX_READ_TIME", TimeRule::max},
    {"MAX_WRITE_TIME", TimeRule::max},
}};

// Darshan's ten ranges of access sizes; a bin holds sizes up to and with its bound.
inline constexpr int bin_count = 10;
inline constexpr std::array<const char*, bin_count> bin_names = {
    "0_100", "100_1K", "1K_10K", "10K_100K", "100K_1M", "1M_4M", "4M_10M", "10M_100M", "100M_1G", "1G_PLUS"};
inline constexpr std::array<uint64_t, bin_count - 1> bin_bounds = {
    100, 1024, 10240, 102400, 1048576, 4194304, 10485760, 104857600, 1073741824};

constexpr int bin_of(uint64_t bytes) {
  int bin = 0;
  while (bin < bin_count - 1 && bytes > bin_bounds[static_cast<size_t>(bin)]) ++bin;
  return bin;
}

// Bytes over time: as many bins as fit a page of a report, of a width that doubles as the run outgrows them.
inline constexpr int heat_bins = 200;
inline constexpr double first_bin_seconds = 0.1;

inline constexpr const char* level_prefix(Level level) {
  return level == Level::mpiio ? "MPIIO" : level == Level::posix ? "POSIX" : "STDIO";
}

}  // namespace neve::trace
