// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/blocks/send_blocks.hpp"

#include "mpi/blocks/failure_message.hpp"
#include "mpi/blocks/window.hpp"

namespace neve::mpi {
Status send_blocks(MPI_Comm comm, int dest, int tag, const BlockEncoder& encoder, Moved& moved) {
  Window window("sending a block", false);
  Ahead ahead(encoder);
  Status encoded;
  for (size_t block = 0; block < encoder.blocks() && encoded.ok(); ++block) {
    Result<Bytes> frame = Status();
    NEVE_TRY(window.next_frame(ahead, frame));
    encoded = frame.status();
    if (encoded.ok()) {
      moved.frame_bytes += frame->size();
      ++moved.blocks;
    }
    NEVE_TRY(window.begin(encoded.ok() ? std::move(*frame) : failure_message(encoded),
                          [&](const std::byte* data, int bytes, MPI_Request* request) {
                            return MPI_Isend(data, bytes, MPI_BYTE, dest, tag, comm, request);
                          }));
  }
  NEVE_TRY(window.wait());
  return encoded;
}

}  // namespace neve::mpi
