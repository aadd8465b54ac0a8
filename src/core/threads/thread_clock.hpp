// SPDX-License-Identifier: BSD-3-Clause
// CPU time of the calling thread, which a busy machine changes little.
#pragma once

#include <time.h>

#include <cstdint>

namespace neve {

// 0 where the system has no such clock.
inline uint64_t thread_time_ns() {
  timespec now{};
  if (clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now) != 0) return 0;
  constexpr uint64_t second_ns = 1000000000;
  return static_cast<uint64_t>(now.tv_sec) * second_ns + static_cast<uint64_t>(now.tv_nsec);
}

inline double thread_seconds() { return 1e-9 * static_cast<double>(thread_time_ns()); }

}  // namespace neve
