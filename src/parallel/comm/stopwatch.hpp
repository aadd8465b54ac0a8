// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

namespace neve::mpi {

// Seconds since the last call.
class Stopwatch {
 public:
  double lap() {
    const double now = MPI_Wtime();
    const double seconds = now - last_;
    last_ = now;
    return seconds;
  }

 private:
  double last_ = MPI_Wtime();
};

}  // namespace neve::mpi
