// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/blocks/send_blocks.hpp"

#include <array>

#include "mpi/blocks/ahead.hpp"
#include "mpi/blocks/failure_message.hpp"

namespace neve::mpi {
namespace {

// Messages under way; enough that one waits while another moves.
class Window {
 public:
  Window() { requests_.fill(MPI_REQUEST_NULL); }

  // Lets MPI go on with what is under way.
  Status progress() {
    int done = 0;
    return mpi_status(MPI_Testall(size, requests_.data(), &done, MPI_STATUSES_IGNORE), "MPI_Testall");
  }
  bool is_empty() const {
    for (const MPI_Request request : requests_) {
      if (request != MPI_REQUEST_NULL) return false;
    }
    return true;
  }
  Status send(MPI_Comm comm, int dest, int tag, Bytes message) {
    const size_t place = next_++ % size;
    NEVE_TRY(mpi_status(MPI_Wait(&requests_[place], MPI_STATUS_IGNORE), "MPI_Wait"));
    messages_[place] = std::move(message);
    return mpi_status(MPI_Isend(messages_[place].data(), static_cast<int>(messages_[place].size()), MPI_BYTE,
                                dest, tag, comm, &requests_[place]),
                      "MPI_Isend");
  }
  Status wait() {
    return mpi_status(MPI_Waitall(size, requests_.data(), MPI_STATUSES_IGNORE), "MPI_Waitall");
  }

 private:
  static constexpr int size = 2;
  std::array<MPI_Request, size> requests_;
  std::array<Bytes, size> messages_;
  size_t next_ = 0;
};

}  // namespace

Status send_blocks(MPI_Comm comm, int dest, int tag, const BlockEncoder& encoder, Moved& moved) {
  constexpr std::chrono::microseconds between_looks(50);
  Window window;
  Ahead ahead(encoder);
  Status encoded;
  for (size_t block = 0; block < encoder.blocks() && encoded.ok(); ++block) {
    std::optional<Result<Bytes>> frame;
    while (!frame) {
      if (window.is_empty()) {
        frame = ahead.take();
      } else {
        NEVE_TRY(window.progress());
        frame = ahead.take_within(between_looks);
      }
    }
    encoded = frame->status();
    if (encoded.ok()) {
      moved.frame_bytes += (*frame)->size();
      ++moved.blocks;
    }
    NEVE_TRY(window.send(comm, dest, tag, encoded.ok() ? std::move(**frame) : failure_message(encoded)));
  }
  NEVE_TRY(window.wait());
  return encoded;
}

}  // namespace neve::mpi
