// SPDX-License-Identifier: BSD-3-Clause
#include "parallel/comm/turns.hpp"

#include <chrono>
#include <functional>
#include <thread>

#include "parallel/comm/agree.hpp"

namespace neve::mpi {
namespace {

std::mutex& file_mutex() {
  static std::mutex one;
  return one;
}

// Shared by those that duplicate communicators, had alone by the one that is in HDF5 on several ranks.
std::shared_mutex& duplication_mutex() {
  static std::shared_mutex one;
  return one;
}

// Times that differ from thread to thread, so that two of these do not meet again and again.
void wait_a_little(size_t attempt) {
  const size_t turn = std::hash<std::thread::id>{}(std::this_thread::get_id()) + attempt;
  std::this_thread::sleep_for(std::chrono::milliseconds(1 + turn * 7 % 31));
}

// Collective. The lock of every rank's own `mutex`.
template <class Lock>
Result<Lock> lock_on_all_ranks(MPI_Comm comm, typename Lock::mutex_type& mutex) {
  int level = MPI_THREAD_SINGLE;
  NEVE_TRY(mpi_status(MPI_Query_thread(&level), "MPI_Query_thread"));
  if (level != MPI_THREAD_MULTIPLE) return Lock();
  for (size_t attempt = 0;; ++attempt) {
    {
      Lock lock(mutex, std::try_to_lock);
      int is_held = lock.owns_lock() ? 1 : 0;
      NEVE_TRY(mpi_status(MPI_Allreduce(MPI_IN_PLACE, &is_held, 1, MPI_INT, MPI_MIN, comm),
                          "agreement on whose turn it is"));
      if (is_held != 0) return lock;
    }
    wait_a_little(attempt);
  }
}

}  // namespace

Result<FileTurn> take_file_turn(MPI_Comm comm) { return lock_on_all_ranks<FileTurn>(comm, file_mutex()); }

Result<DuplicationTurn> take_duplication_turn(MPI_Comm comm) {
  return lock_on_all_ranks<DuplicationTurn>(comm, duplication_mutex());
}

// Whoever duplicates waits for no turn in MPI-IO, so that the two can be taken one after the other.
Result<Hdf5FileTurn> take_hdf5_file_turn(MPI_Comm comm) {
  Hdf5FileTurn turn;
  NEVE_ASSIGN(turn.file, take_file_turn(comm));
  NEVE_ASSIGN(turn.duplication,
              lock_on_all_ranks<std::unique_lock<std::shared_mutex>>(comm, duplication_mutex()));
  return turn;
}

}  // namespace neve::mpi
