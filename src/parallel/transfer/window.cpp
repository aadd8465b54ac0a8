// SPDX-License-Identifier: BSD-3-Clause
#include "parallel/transfer/window.hpp"

#include <algorithm>

namespace neve::mpi {

bool Window::is_empty() const {
  return std::all_of(requests_.begin(), requests_.end(),
                     [](MPI_Request request) { return request == MPI_REQUEST_NULL; });
}

Status Window::progress() {
  for (size_t place = 0; place < size; ++place) {
    if (requests_[place] == MPI_REQUEST_NULL) continue;
    int done = 0;
    NEVE_TRY(mpi_status(MPI_Test(&requests_[place], &done, MPI_STATUS_IGNORE), what_));
  }
  return {};
}

Status Window::wait(size_t place) {
  if (requests_[place] == MPI_REQUEST_NULL) return {};
  return mpi_status(MPI_Wait(&requests_[place], MPI_STATUS_IGNORE), what_);
}

Status Window::wait() {
  Status first;
  for (size_t place = 0; place < size; ++place) {
    const Status status = wait(place);
    if (first.ok()) first = status;
  }
  return first;
}

Status Window::next_frame(Ahead& ahead, Result<Bytes>& frame) {
  constexpr std::chrono::microseconds between_looks(50);
  while (!is_empty()) {
    NEVE_TRY(progress());
    if (auto taken = ahead.take_within(between_looks)) {
      frame = std::move(*taken);
      return {};
    }
  }
  frame = ahead.take();
  return {};
}

}  // namespace neve::mpi
