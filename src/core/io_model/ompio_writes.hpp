// SPDX-License-Identifier: BSD-3-Clause
// What Open MPI's OMPIO (4.1) makes of a call where files have no stripes: component individual on up to two
// ranks, component vulcan on more. The number of aggregators follows Jha and Gabriel, "Performance Models for
// Communication in Collective I/O Operations" (CCGrid 2017).
#pragma once

#include <cstdint>
#include <vector>

#include "core/io_model/mpi_calls.hpp"
#include "core/io_model/request.hpp"

namespace neve::io_model {

struct OmpioHints {
  int aggregators = 0;                         // cb_nodes; 0: as OMPIO chooses
  uint64_t buffer_bytes = uint64_t{32} << 20;  // cb_buffer_size, io_ompio_bytes_per_agg
  bool has_view = true;    // ranks have set a view of the file; else each writes at an offset
  bool is_packed = false;  // a rank's bytes of a call lie together in memory
};

// How many ranks write for the others where no hint says it. `chunk_bytes`: of a contiguous part of a rank's
// view, the mean; `is_one_chunk`: views are one such part each.
int ompio_aggregators(int ranks, uint64_t chunk_bytes, uint64_t buffer_bytes, bool is_one_chunk);

// Adds the requests of a call.
void add_ompio_requests(const Call& call, int ranks, const OmpioHints& hints, std::vector<Request>& requests);

}  // namespace neve::io_model
