// SPDX-License-Identifier: BSD-3-Clause
// Threads of a process that write on communicators of their own take turns in what MPI and HDF5 do under
// locks of the whole process. A rank that held such a lock while it waited for another rank to get it might
// wait for ever: a turn is had on all ranks of a communicator, or on none.
//
// Below MPI_THREAD_MULTIPLE only one thread is in MPI at a time: nothing is exchanged then, and nothing held.
#pragma once

#include <mpi.h>

#include <mutex>
#include <shared_mutex>

#include "neve/status.hpp"

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
  // Collective. Waits until no other thread of these ranks has a turn.
  static Result<FileTurn> take(MPI_Comm comm);

 private:
  explicit FileTurn(std::unique_lock<std::mutex> lock) : lock_(std::move(lock)) {}
  std::unique_lock<std::mutex> lock_;
};

// While one lives, no thread of these ranks has an Hdf5FileTurn. Several threads may have one at a time.
//
// Open MPI agrees on the number of a new communicator for one at a time in a process, the one made from the
// lowest number first. A thread that waits for HDF5 on one rank, and for this thread in MPI_Comm_dup on
// another, would keep the thread that is in HDF5, and makes a communicator there, from ever getting its
// number.
class DuplicationTurn {
 public:
  // Collective. Waits until no thread of these ranks has an Hdf5FileTurn.
  static Result<DuplicationTurn> take(MPI_Comm comm);

 private:
  explicit DuplicationTurn(std::shared_lock<std::shared_mutex> lock) : lock_(std::move(lock)) {}
  std::shared_lock<std::shared_mutex> lock_;
};

// A turn in MPI-IO for a thread that keeps others out of HDF5 (io/hdf5/library_lock.hpp) while HDF5 opens,
// writes and closes a file collectively, and duplicates communicators there.
class Hdf5FileTurn {
 public:
  // Collective. Waits until no other thread of these ranks has a turn of any kind.
  static Result<Hdf5FileTurn> take(MPI_Comm comm);

 private:
  Hdf5FileTurn(FileTurn file, std::unique_lock<std::shared_mutex> lock)
      : file_(std::move(file)), lock_(std::move(lock)) {}
  FileTurn file_;
  std::unique_lock<std::shared_mutex> lock_;
};

}  // namespace neve::mpi
