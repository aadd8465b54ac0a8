// SPDX-License-Identifier: BSD-3-Clause
#include "parallel/transfer/send_blocks.hpp"

#include <algorithm>
#include <optional>

#include "parallel/comm/fault.hpp"
#include "parallel/transfer/failure_message.hpp"
#include "parallel/transfer/window.hpp"

namespace neve::mpi {
Result<double> largest_error(ByteSpan frame) {
  NEVE_ASSIGN(const FrameDescription description, describe_frame(frame));
  double largest = 0;
  for (const ComponentInfo& component : description.components) {
    largest = std::max(largest, component.max_abs_error);
  }
  return largest;
}

Status send_blocks(MPI_Comm comm, int dest, int tag, const BlockEncoder& encoder, Moved& moved) {
  Window window("sending a block");
  std::optional<Ahead> ahead;
  Status encoded = guarded("encode", [&]() -> Status {
    ahead.emplace(encoder);
    return {};
  });
  for (size_t block = 0; block < encoder.blocks() && encoded.ok(); ++block) {
    Result<Bytes> frame = Status();
    NEVE_TRY(window.next_frame(*ahead, frame));
    encoded = guarded("encode", [&]() -> Status {
      NEVE_TRY(frame.status());
      if (encoder.tells_errors()) {
        NEVE_ASSIGN(const double error, largest_error(*frame));
        moved.max_abs_error = std::max(moved.max_abs_error, error);
      }
      return injected_fault(Phase::send, encoder.rank());
    });
    if (!encoded.ok()) break;
    moved.frame_bytes += frame->size();
    ++moved.blocks;
    NEVE_TRY(window.begin(std::move(*frame), [&](const std::byte* data, int bytes, MPI_Request* request) {
      return MPI_Isend(data, bytes, MPI_BYTE, dest, tag, comm, request);
    }));
  }
  NEVE_TRY(window.wait());
  if (!encoded.ok() && encoder.blocks() > 0) {
    const FailureMessage message = failure_message(encoded);
    NEVE_TRY(
        mpi_status(MPI_Send(message.data.data(), static_cast<int>(message.bytes), MPI_BYTE, dest, tag, comm),
                   "MPI_Send"));
  }
  return encoded;
}

}  // namespace neve::mpi
