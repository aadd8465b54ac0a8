// SPDX-License-Identifier: BSD-3-Clause
// Lists of which every rank has some rows: points, triangles.
#pragma once

#include <string>

#include "bench/harness/output/array.hpp"
#include "neve/status.hpp"
#include "parallel/comm/agree.hpp"

namespace neve::apps {

struct RowShare {
  uint64_t first = 0, mine = 0, all = 0;
  double max_over_mean = 1;  // of the ranks
};
// Collective: ranks' rows one after another.
Result<RowShare> share_of_rows(const mpi::Comm& comm, uint64_t mine);

// One column: a list without a second dimension.
ArrayPart rows_part(const std::string& name, DType dtype, const RowShare& share, uint64_t columns,
                    uint64_t chunk_rows, const void* values);

}  // namespace neve::apps
