// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <algorithm>
#include <string>
#include <vector>

#include "bench/harness/median.hpp"
#include "neve/status.hpp"
#include "parallel/comm/agree.hpp"

namespace neve::apps {

// Collective: wall time of the slowest rank for something all ranks do together.
template <class Work>
Result<double> timed(const mpi::Comm& comm, Work&& work) {
  NEVE_TRY(mpi::mpi_status(MPI_Barrier(comm.get()), "MPI_Barrier"));
  const double begin_seconds = MPI_Wtime();
  NEVE_TRY(work());
  double seconds = MPI_Wtime() - begin_seconds;
  NEVE_TRY(mpi::mpi_status(MPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_MAX, comm.get()),
                           "merging of times"));
  return seconds;
}

// Collective: the same for work that each rank does alone; all ranks get the error of any of them, which
// names `phase`.
template <class Work>
Result<double> timed_alone(const mpi::Comm& comm, const std::string& phase, Work&& work) {
  return timed(comm, [&] { return mpi::agree(comm, mpi::guarded(phase, work)); });
}

// Of something done several times; sums of such.
struct Seconds {
  double median = 0, min = 0, max = 0;

  Seconds& operator+=(const Seconds& other) {
    median += other.median;
    min += other.min;
    max += other.max;
    return *this;
  }
};

// Collective: `work`, `repeats` times, each after a `prepare` that is not timed.
template <class Prepare, class Work>
Result<Seconds> timed(const mpi::Comm& comm, int repeats, Prepare&& prepare, Work&& work) {
  std::vector<double> runs;
  for (int run = 0; run < repeats; ++run) {
    NEVE_TRY(prepare());
    NEVE_ASSIGN(const double seconds, timed(comm, work));
    runs.push_back(seconds);
  }
  const auto [min, max] = std::minmax_element(runs.begin(), runs.end());
  return Seconds{median_of(runs), *min, *max};
}

}  // namespace neve::apps
