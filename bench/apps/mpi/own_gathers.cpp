// SPDX-License-Identifier: BSD-3-Clause
#include "bench/apps/mpi/own_gathers.hpp"

#include <cmath>
#include <vector>

#include "bench/harness/timed.hpp"

namespace neve::mpibench {

neve::Result<OwnGathers> time_own_gathers(MPI_Comm given, uint64_t rank_bytes, int calls) {
  NEVE_ASSIGN(const mpi::Comm comm, mpi::Comm::duplicate(given));
  const uint64_t count = rank_bytes / sizeof(float);
  std::vector<float> mine, all;
  NEVE_TRY(mpi::agree(comm, mpi::guarded("values", [&]() -> Status {
                        for (uint64_t i = 0; i < count; ++i) {
                          mine.push_back(std::sin(0.01f * static_cast<float>(i) + comm.rank()));
                        }
                        if (comm.rank() == 0) all.resize(count * comm.size());
                        return {};
                      })));
  std::vector<double> seconds;
  for (int call = 0; call < calls; ++call) {
    NEVE_ASSIGN(const double one, apps::timed(comm, [&] {
                  return mpi::mpi_status(
                      MPI_Gather(mine.data(), static_cast<int>(count), MPI_FLOAT, all.data(),
                                 static_cast<int>(count), MPI_FLOAT, 0, comm.get()),
                      "MPI_Gather");
                }));
    if (call >= calls / 10) seconds.push_back(one);
  }
  return OwnGathers{count * sizeof(float), calls, apps::median_of(seconds)};
}

}  // namespace neve::mpibench
