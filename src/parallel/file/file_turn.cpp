// SPDX-License-Identifier: BSD-3-Clause
#include "parallel/file/file_turn.hpp"

#include <chrono>
#include <functional>
#include <thread>

namespace neve::mpi {
namespace {

std::mutex& mutex() {
  static std::mutex one;
  return one;
}

// Times that differ from thread to thread, so that two of these do not meet again and again.
void wait_a_little(size_t attempt) {
  const size_t turn = std::hash<std::thread::id>{}(std::this_thread::get_id()) + attempt;
  std::this_thread::sleep_for(std::chrono::milliseconds(1 + turn * 7 % 31));
}

}  // namespace

// A rank that held its lock while it waited for another to get it might wait for ever: all get it at once, or
// none keeps it.
Result<FileTurn> FileTurn::take(const Comm& comm) {
  int level = MPI_THREAD_SINGLE;
  NEVE_TRY(mpi_status(MPI_Query_thread(&level), "MPI_Query_thread"));
  if (level != MPI_THREAD_MULTIPLE) return FileTurn({});
  for (size_t attempt = 0;; ++attempt) {
    {
      std::unique_lock<std::mutex> lock(mutex(), std::try_to_lock);
      int is_held = lock.owns_lock() ? 1 : 0;
      NEVE_TRY(mpi_status(MPI_Allreduce(MPI_IN_PLACE, &is_held, 1, MPI_INT, MPI_MIN, comm.get()),
                          "agreement on the use of MPI-IO"));
      if (is_held != 0) return FileTurn(std::move(lock));
    }
    wait_a_little(attempt);
  }
}

}  // namespace neve::mpi
