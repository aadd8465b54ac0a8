// SPDX-License-Identifier: BSD-3-Clause
// What a call costs in a process of its own: the memory it adds at its peak, and processor time.
#pragma once

#include <malloc.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>

namespace neve::test {

struct MeasuredCost {
  bool ran = false;  // the child came to its end
  bool ok = false;   // what the call returned
  int64_t peak_bytes = 0;
  double seconds = 0;
};

// Sanitizers keep books of their own in memory.
#if defined(__SANITIZE_ADDRESS__)
inline constexpr bool counts_memory = false;
#else
inline constexpr bool counts_memory = true;
#endif

inline int64_t status_kilobytes(const char* key) {
  std::ifstream status("/proc/self/status");
  std::string line;
  while (std::getline(status, line)) {
    if (line.rfind(key, 0) == 0) return std::atoll(line.c_str() + std::strlen(key) + 1);
  }
  return 0;
}

inline double processor_seconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

// `prepare` makes what the call is given (its output buffer, say), which does not count; `call(prepared)`
// says whether it succeeded.
template <class Prepare, class Call>
MeasuredCost measure_cost(const Prepare& prepare, const Call& call) {
  int ends[2];
  if (pipe(ends) != 0) return {};
  const pid_t child = fork();
  if (child == 0) {
    auto prepared = prepare();
    malloc_trim(0);
    std::ofstream("/proc/self/clear_refs") << 5;  // the peak begins anew
    const int64_t before = status_kilobytes("VmRSS:");
    const double begin = processor_seconds();
    MeasuredCost cost;
    cost.ok = call(prepared);
    cost.seconds = processor_seconds() - begin;
    cost.peak_bytes = (status_kilobytes("VmHWM:") - before) * 1024;
    cost.ran = true;
    const bool written = write(ends[1], &cost, sizeof cost) == sizeof cost;
    _exit(written ? 0 : 1);
  }
  close(ends[1]);
  MeasuredCost cost;
  if (read(ends[0], &cost, sizeof cost) != sizeof cost) cost = {};
  close(ends[0]);
  waitpid(child, nullptr, 0);
  return cost;
}

}  // namespace neve::test
