// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include "parallel/transfer/block_encoder.hpp"

namespace neve::mpi {

struct Moved {
  uint64_t frame_bytes = 0;
  uint64_t blocks = 0;
  double max_abs_error = 0;  // where the transfer tells it, of what was sent
};

// That the encoder measured: it stands in the frame.
Result<double> largest_error(ByteSpan frame);

// Sends the blocks in order, a message each; while they move the next are encoded. In the place of a block
// that cannot be encoded goes the error, and nothing after it: the receiver has it as well. Returns when the
// buffers are MPI's no more.
Status send_blocks(MPI_Comm comm, int dest, int tag, const BlockEncoder& encoder, Moved& moved);

}  // namespace neve::mpi
