// SPDX-License-Identifier: BSD-3-Clause
// What the JSON of a trace is called by, in reading and in writing.
#pragma once

#include <cstddef>
#include <string>

#include "preload/trace/model.hpp"

namespace neve::trace {

inline constexpr int format_version = 1;
inline constexpr const char* direction_names[] = {"READ", "WRITE"};
inline constexpr const char* plural_names[] = {"read", "write"};
inline constexpr const char* level_names[] = {"mpiio", "posix", "stdio"};

inline std::string bin_counter(Level level, size_t direction, size_t bin) {
  return std::string(level_prefix(level)) + "_SIZE_" + direction_names[direction] + "_" +
         (level == Level::mpiio ? "AGG_" : "") + bin_names[bin];
}

inline std::string time_counter(Level level, size_t time) {
  return std::string(level_prefix(level)) + "_F_" + time_infos[time].name;
}

inline bool is_timestamp(size_t time) {
  return time_infos[time].rule == TimeRule::earliest || time_infos[time].rule == TimeRule::latest;
}

}  // namespace neve::trace
