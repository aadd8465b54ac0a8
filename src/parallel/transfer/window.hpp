// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <array>

#include "parallel/comm/agree.hpp"
#include "parallel/transfer/ahead.hpp"

namespace neve::mpi {

// Messages under way: enough that one waits while another moves. Each buffer is kept until MPI is done with
// it. Not for files: under Open MPI a request of MPI-IO that fails ends the process.
class Window {
 public:
  // `what` they are, for errors.
  explicit Window(const char* what) : what_(what) { requests_.fill(MPI_REQUEST_NULL); }

  // Waits for a place, and calls start(bytes, count, request), an MPI call that returns its code.
  template <class Start>
  Status begin(Bytes frame, Start&& start) {
    const size_t place = next_++ % size;
    NEVE_TRY(wait(place));
    frames_[place] = std::move(frame);
    return mpi_status(
        start(frames_[place].data(), static_cast<int>(frames_[place].size()), &requests_[place]), what_);
  }

  // The next frame that `ahead` has; what is under way goes on meanwhile. The error is one of the window.
  Status next_frame(Ahead& ahead, Result<Bytes>& frame);

  Status wait();

 private:
  static constexpr size_t size = 2;

  bool is_empty() const;
  Status progress();
  Status wait(size_t place);

  const char* what_;
  std::array<MPI_Request, size> requests_;
  std::array<Bytes, size> frames_;
  size_t next_ = 0;
};

}  // namespace neve::mpi
