// SPDX-License-Identifier: BSD-3-Clause
// What a file holds against what was written.
#pragma once

#include <cstdint>
#include <string>

#include "bench/apps/chombo/contents.hpp"
#include "bench/apps/chombo/way.hpp"
#include "bench/apps/chombo/write_way.hpp"
#include "parallel/comm/agree.hpp"

namespace neve::chombo {

// Over all ranks.
struct Verified {
  uint64_t values = 0;
  double max_abs_error = 0;
};

// Collective. Every rank reads, through Neve's reader, boxes that others wrote, and computes their values
// anew. bound_violated where one differs: bit for bit, of compressed files by more than the bound.
Result<Verified> verify(const mpi::Comm& comm, const Contents& contents, const Way& way, const WriteCase& how,
                        const WriteReport& written, const std::string& path);

}  // namespace neve::chombo
