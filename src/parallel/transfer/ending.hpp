// SPDX-License-Identifier: BSD-3-Clause
// What ends a collective call: an agreement, and with it what the call came to over all ranks.
#pragma once

#include "parallel/comm/agree.hpp"
#include "parallel/transfer/send_blocks.hpp"

namespace neve::mpi {

// What a call came to, the same on all ranks.
struct Reached {
  uint64_t value_bytes = 0;  // of the values that were sent
  uint64_t moved_bytes = 0;  // of their frames
  double bound = 0;          // absolute; 0: lossless
  double max_abs_error = 0;
};

// Collective: agree(), in the same single reduction that sums what the ranks have sent: `value_bytes` as
// frames. `reached` is set but for its bound where all agree.
Status end_together(const Comm& comm, const Status& done, uint64_t value_bytes, const Moved& sent,
                    Reached& reached);

}  // namespace neve::mpi
