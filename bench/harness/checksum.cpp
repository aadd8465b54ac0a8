// SPDX-License-Identifier: BSD-3-Clause
#include "bench/harness/checksum.hpp"

#include <bit>

#include "bench/harness/random.hpp"

namespace neve::apps {

Result<uint64_t> field_checksum(const mpi::Comm& comm, const std::array<int, 3>& cells, const GridBox& box,
                                const std::vector<float>& values) {
  uint64_t sum = 0;
  size_t i = 0;
  for (int z = box.first[2]; z < box.first[2] + box.size[2]; ++z) {
    for (int y = box.first[1]; y < box.first[1] + box.size[1]; ++y) {
      const uint64_t row =
          (static_cast<uint64_t>(z) * static_cast<uint64_t>(cells[1]) + static_cast<uint64_t>(y)) *
          static_cast<uint64_t>(cells[0]);
      for (int x = box.first[0]; x < box.first[0] + box.size[0]; ++x, ++i) {
        sum += mix((row + static_cast<uint64_t>(x)) ^ (uint64_t{std::bit_cast<uint32_t>(values[i])} << 32));
      }
    }
  }
  NEVE_TRY(mpi::mpi_status(MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_UINT64_T, MPI_SUM, comm.get()),
                           "merging of checksums"));
  return sum;
}

}  // namespace neve::apps
