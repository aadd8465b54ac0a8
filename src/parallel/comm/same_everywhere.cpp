// SPDX-License-Identifier: BSD-3-Clause
#include "parallel/comm/same_everywhere.hpp"

#include <array>
#include <cstdint>

namespace neve::mpi {

Status check_same_everywhere(const Comm& comm, const std::function<std::string()>& text,
                             std::string_view what) {
  uint64_t hash = 0;
  NEVE_TRY(guarded_alike(comm, what, [&]() -> Status {
    hash = std::hash<std::string>{}(text());
    return {};
  }));
  std::array<uint64_t, 2> smallest = {hash, ~hash};
  NEVE_TRY(mpi_status(MPI_Allreduce(MPI_IN_PLACE, smallest.data(), 2, MPI_UINT64_T, MPI_MIN, comm.get()),
                      "comparison of the ranks' arguments"));
  if (smallest[0] == ~smallest[1]) return {};
  return usage_error("the ranks disagree about " + std::string(what) + "; all must pass the same");
}

}  // namespace neve::mpi
