// SPDX-License-Identifier: BSD-3-Clause
// Threads of a process that write on communicators of their own take turns in MPI-IO.
#pragma once

#include <mutex>

#include "parallel/comm/agree.hpp"

namespace neve::mpi {

// While one lives, this thread is the only one of Neve inside collective MPI-IO, on every rank of `comm`.
//
// ROMIO (MPICH's MPI-IO, and that of MPIs made from it) holds one lock of the whole process in MPI_File_open
// and its like, also while it waits there for other ranks: of two threads that open two files on two ranks,
// each rank lets in another one first, and none ever comes back.
//
// Not to be taken twice by one thread.
class FileTurn {
 public:
  // Collective. Waits until no other thread of these ranks has a turn. Below MPI_THREAD_MULTIPLE only one
  // thread is in MPI at a time: nothing is exchanged then, and nothing held.
  static Result<FileTurn> take(const Comm& comm);

 private:
  explicit FileTurn(std::unique_lock<std::mutex> lock) : lock_(std::move(lock)) {}
  std::unique_lock<std::mutex> lock_;
};

}  // namespace neve::mpi
