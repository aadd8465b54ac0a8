// SPDX-License-Identifier: BSD-3-Clause
#include "tools/common/ranks.hpp"

#include <cstdlib>

namespace neve::cli {

int launcher_rank() {
  for (const char* name : {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "MPI_RANKID", "SLURM_PROCID"}) {
    if (const char* text = std::getenv(name)) return std::atoi(text);
  }
  return 0;
}

Result<Ranks> Ranks::of_world() {
  NEVE_ASSIGN(mpi::Comm comm, mpi::Comm::duplicate(MPI_COMM_WORLD));
  return Ranks(std::move(comm));
}

}  // namespace neve::cli
