// SPDX-License-Identifier: BSD-3-Clause
// Parts as the first version of the trace library left them.
#pragma once

#include <cstdint>

#include "preload/trace/part.hpp"

namespace neve::trace::v1 {

inline constexpr uint64_t part_magic = 0x31305452'4556454eU;  // "NEVETR01"
inline constexpr uint32_t part_counter_count = STDIO_MAX_BYTE_WRITTEN + 1;

struct PartPhase {
  uint32_t next;
  uint32_t name;
  int64_t counters[part_counter_count];
  double times[level_count][time_count];
  PartAccesses accesses[level_count][direction_count];
};

struct PartFile {
  uint32_t next;
  uint32_t path;
  uint32_t renamed;  // PartName list
  uint32_t phases;
  uint32_t next_in_bucket;
  uint32_t last_direction[level_count];
  int64_t last_byte[direction_count];
  double last_end[level_count][3];
};

struct PartHeader {
  uint64_t magic;
  uint64_t used_bytes;
  uint32_t files;
  uint32_t phase_names;
  uint64_t process_id;
  int64_t rank;
  int64_t ranks;
  double process_start;
  double last_event;
  uint32_t host;
  uint32_t program;
  uint64_t dropped_calls, dropped_bytes;
  uint64_t reentrant_calls;
  uint64_t phases_beyond;
  uint64_t writable_maps;
};

}  // namespace neve::trace::v1
