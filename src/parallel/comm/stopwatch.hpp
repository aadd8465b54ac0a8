// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>

namespace neve::mpi {

// Seconds since the last call.
class Stopwatch {
 public:
  double lap() {
    const Clock::time_point now = Clock::now();
    const std::chrono::duration<double> seconds = now - last_;
    last_ = now;
    return seconds.count();
  }

 private:
  using Clock = std::chrono::steady_clock;  // not MPI's: threads use it that must not call MPI
  Clock::time_point last_ = Clock::now();
};

}  // namespace neve::mpi
