// SPDX-License-Identifier: BSD-3-Clause
#include "bench/harness/rows.hpp"

#include <algorithm>
#include <vector>

namespace neve::apps {

Result<RowShare> share_of_rows(const mpi::Comm& comm, uint64_t mine) {
  std::vector<uint64_t> rows(static_cast<size_t>(comm.size()));
  NEVE_TRY(mpi::mpi_status(MPI_Allgather(&mine, 1, MPI_UINT64_T, rows.data(), 1, MPI_UINT64_T, comm.get()),
                           "counting of rows"));
  RowShare share;
  share.mine = mine;
  uint64_t most = 0;
  for (size_t rank = 0; rank < rows.size(); ++rank) {
    if (rank < static_cast<size_t>(comm.rank())) share.first += rows[rank];
    share.all += rows[rank];
    most = std::max(most, rows[rank]);
  }
  if (share.all > 0) {
    share.max_over_mean =
        static_cast<double>(most) * static_cast<double>(rows.size()) / static_cast<double>(share.all);
  }
  return share;
}

ArrayPart rows_part(const std::string& name, DType dtype, const RowShare& share, uint64_t columns,
                    uint64_t chunk_rows, const void* values) {
  ArrayPart part;
  part.spec.name = name;
  part.spec.dtype = dtype;
  part.spec.shape = {share.all};
  part.spec.chunk = {std::clamp<uint64_t>(share.all, 1, chunk_rows)};
  part.start = {share.first};
  part.count = {share.mine};
  if (columns > 1) {
    part.spec.shape.push_back(columns);
    part.spec.chunk.push_back(columns);
    part.start.push_back(0);
    part.count.push_back(columns);
  }
  part.values = values;
  return part;
}

}  // namespace neve::apps
