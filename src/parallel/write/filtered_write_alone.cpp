// SPDX-License-Identifier: BSD-3-Clause
// Strategy filtered in a build without MPI, whose HDF5 may have no collective writes.
#include "alone/needs_mpi.hpp"
#include "parallel/write/filtered_write.hpp"

namespace neve::mpi {

Status check_filtered_is_built() { return alone::needs_mpi("strategy filtered"); }

Result<FilteredTimes> write_filtered(const Comm&, const std::string&, const Hints&, const Hierarchy&,
                                     const WritePlan&, std::span<EncodedChunk>) {
  return check_filtered_is_built();
}

}  // namespace neve::mpi
