// SPDX-License-Identifier: BSD-3-Clause
// What the environment says to the library in a traced process, and the names both sides use.
#pragma once

#include <cstddef>
#include <cstdint>

namespace neve::trace {

inline constexpr const char* output_variable = "NEVE_TRACE_OUTPUT";    // the JSON file
inline constexpr const char* include_variable = "NEVE_TRACE_INCLUDE";  // patterns, separated by ':'
inline constexpr const char* exclude_variable = "NEVE_TRACE_EXCLUDE";
inline constexpr const char* memory_variable = "NEVE_TRACE_MEMORY_MIB";  // of a process's part, at most
inline constexpr const char* sizes_variable = "NEVE_TRACE_SIZES";        // different sizes of a map, at most
inline constexpr const char* default_output = "neve-trace.json";
inline constexpr const char* parts_suffix = ".parts";  // of the folder beside the output where parts lie
inline constexpr const char* part_suffix = ".part";
inline constexpr const char* reduced_suffix =
    ".reduced.json";  // a second reduction, in the folder of the parts

inline constexpr size_t longest_path = 4096;

struct Settings {
  char output[longest_path];
  char parts[longest_path + 8];
  char include[longest_path];
  char exclude[longest_path];
  uint64_t memory_bytes;
  uint32_t sizes;

  void read_environment();

  // Is a file of this (absolute) path to be traced? What is included by pattern always is; what is excluded
  // by pattern, or lies where systems keep their own files, is not.
  bool wants(const char* path) const;
};

}  // namespace neve::trace
