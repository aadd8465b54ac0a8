// SPDX-License-Identifier: BSD-3-Clause
#include "parallel/comm/ranges.hpp"

#include <limits>
#include <vector>

namespace neve::mpi {

Status merge_over_ranks(const Comm& comm, std::span<ValueRange> ranges) {
  constexpr double none = std::numeric_limits<double>::infinity();
  std::vector<double> smallest;  // minima, then negated maxima, so that one reduction serves both
  NEVE_TRY(guarded_alike(comm, "range", [&]() -> Status {
    for (const ValueRange& r : ranges) smallest.push_back(r.empty ? none : r.min);
    for (const ValueRange& r : ranges) smallest.push_back(r.empty ? none : -r.max);
    return {};
  }));
  NEVE_TRY(mpi_status(MPI_Allreduce(MPI_IN_PLACE, smallest.data(), static_cast<int>(smallest.size()),
                                    MPI_DOUBLE, MPI_MIN, comm.get()),
                      "exchange of value ranges"));
  for (size_t i = 0; i < ranges.size(); ++i) {
    const bool empty = smallest[i] == none;
    ranges[i] = {empty ? 0 : smallest[i], empty ? 0 : -smallest[ranges.size() + i], empty};
  }
  return {};
}

}  // namespace neve::mpi
