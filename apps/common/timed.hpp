// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include "mpi/agree.hpp"
#include "neve/status.hpp"

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

}  // namespace neve::apps
