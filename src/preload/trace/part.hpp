// SPDX-License-Identifier: BSD-3-Clause
// A part: what one process has counted, as it lies in that process's memory. That memory is a file mapped
// shared, so a process that is killed leaves its counts behind. Everything is reached by offsets from the
// beginning; offset 0 is none. Parts are read on the machine's own kind only (the magic word says so).
#pragma once

#include <cstdint>

#include "preload/trace/counters.hpp"

namespace neve::trace {

inline constexpr uint64_t part_magic = 0x32305452'4556454eU;  // "NEVETR02" where the low byte comes first

struct PartAccesses {
  uint64_t bins[bin_count];
  uint32_t map;           // PartSize[map_capacity], open addressing; a count of 0 is an empty place
  uint32_t map_capacity;  // a power of two
  uint32_t map_used;
  uint32_t unused;
  uint64_t overflow_calls;  // accesses of sizes that found no place in the map
  uint64_t overflow_bytes;
};

struct PartSize {
  uint64_t bytes;
  uint64_t count;
};

struct PartPhase {  // of one file
  uint32_t next;
  uint32_t name;  // PartName
  int64_t counters[counter_count];
  double times[level_count][time_count];
  PartAccesses accesses[level_count][direction_count];
};

struct PartName {
  uint32_t next;
  uint32_t length;
  // then `length` bytes
};

struct PartRename {  // a name that a file got
  uint32_t next;
  uint32_t name;            // PartName
  uint32_t file;            // PartFile
  uint32_t next_in_bucket;  // of those whose name has the same hash
  uint32_t since;           // the number of the rename that gave it; 0: it has it no more
};

struct PartFile {
  uint32_t next;
  uint32_t path;     // PartName
  uint32_t renamed;  // PartRename list, the latest first
  uint32_t phases;   // PartPhase list
  // What the counters need to remember from one access to the next.
  uint32_t next_in_bucket;
  uint32_t is_gone;                      // renamed away, or replaced by a file that was renamed
  uint32_t last_direction[level_count];  // 0 none, else 1 + Direction
  int64_t last_byte[direction_count];    // POSIX
  double last_end[level_count][3];       // read, write, meta: overlapping calls of threads count once
  // For what no counted call explains (model.hpp, FileSize). A time of 0: not known.
  int64_t size_at_open, size_at_close;
  double opened, closed;
  int64_t explained_end;
  uint64_t appended_bytes;
  uint64_t device, number;  // of a file that has several names; 0: it has one
};

struct PartHeatmap {
  double bin_seconds;
  uint64_t bytes[level_count][direction_count][heat_bins];  // since the start of the process
};

struct PartHeader {
  uint64_t magic;
  uint64_t used_bytes;   // of the whole part
  uint32_t files;        // PartFile list
  uint32_t phase_names;  // PartName list
  uint64_t process_id;
  int64_t rank;  // in MPI_COMM_WORLD; -1 without MPI
  int64_t ranks;
  double process_start;  // seconds since the epoch; with host and id, the name of a process
  double last_event;
  uint32_t host;      // PartName
  uint32_t program;   // PartName
  uint32_t heatmap;   // PartHeatmap
  uint32_t overflow;  // PartFile without a name: everything of files for which no memory was left
  // What could not be kept, told and never silent.
  uint64_t dropped_calls, dropped_bytes;  // new names of files, for which no memory was left
  uint64_t reentrant_calls;               // made while this library counted on the same thread
  uint64_t phases_beyond;                 // phases begun when there was no place for another name
  uint64_t writable_maps;                 // shared writable mappings of files: their stores cannot be seen
  uint32_t unseen_children;               // a child that no handler of fork saw has begun since this was 0
};

}  // namespace neve::trace
