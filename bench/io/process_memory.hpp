// SPDX-License-Identifier: BSD-3-Clause
// What this process holds, as the system counts it. A system that does not say ends the program.
#pragma once

#include <cstdint>
#include <fstream>
#include <string>

#include "bench/io/must.hpp"

namespace neve::bench {

// A line of /proc/self/status, in bytes: "VmRSS" is what it holds, "VmHWM" the most that it has held.
inline uint64_t process_memory_bytes(const std::string& name) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.rfind(name + ":", 0) == 0) return std::stoull(line.substr(name.size() + 1)) * 1024;
  }
  stop(failure("/proc/self/status has no " + name));
}

// VmHWM starts again from what the process holds now.
inline void reset_peak_memory() {
  std::ofstream refs("/proc/self/clear_refs");
  refs << "5";
  refs.flush();
  if (!refs) stop(failure("/proc/self/clear_refs cannot be written: no peak memory can be measured"));
}

}  // namespace neve::bench
