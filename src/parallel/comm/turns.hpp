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
using FileTurn = std::unique_lock<std::mutex>;

// While one lives, no thread of these ranks has an Hdf5FileTurn. Several threads may have one at a time.
//
// Open MPI agrees on the number of a new communicator for one at a time in a process, the one made from the
// lowest number first. A thread that waits for HDF5 on one rank, and for this thread in MPI_Comm_dup on
// another, would keep the thread that is in HDF5, and makes a communicator there, from ever getting its
// number.
using DuplicationTurn = std::shared_lock<std::shared_mutex>;

// A turn in MPI-IO for a thread that keeps others out of HDF5 (io/hdf5/library_lock.hpp) while HDF5 opens,
// writes and closes a file collectively, and duplicates communicators there.
struct Hdf5FileTurn {
  FileTurn file;
  std::unique_lock<std::shared_mutex> duplication;
};

// Collective. Each waits until no other thread of these ranks has a turn that its own would meet. No thread
// takes a turn while it has one.
Result<FileTurn> take_file_turn(MPI_Comm comm);
Result<DuplicationTurn> take_duplication_turn(MPI_Comm comm);
Result<Hdf5FileTurn> take_hdf5_file_turn(MPI_Comm comm);

}  // namespace neve::mpi
