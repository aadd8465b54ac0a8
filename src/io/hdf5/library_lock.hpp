// SPDX-License-Identifier: BSD-3-Clause
// One HDF5 library for all threads of a process, which most builds of it (Debian's parallel one) do not make
// safe for several at once.
#pragma once

#include <mutex>

namespace neve::hdf5 {

// While one lives, no other thread of the process is inside HDF5 through Neve. A thread may hold several.
//
// Never held across a call that waits for another rank, or two threads that write on two communicators could
// wait for each other over two ranks. Collective calls of HDF5 itself are made by a thread that has an
// Hdf5FileTurn (src/parallel/comm/turns.hpp); the others come out of HDF5 by themselves.
class LibraryLock {
 public:
  LibraryLock() : lock_(mutex()) {}

 private:
  static std::recursive_mutex& mutex();
  std::unique_lock<std::recursive_mutex> lock_;
};

// HDF5 ends itself inside MPI_Finalize, and closes whatever is open; what is opened afterwards belongs to a
// library that has begun anew, and may have the same identifiers.
bool is_after_mpi();

}  // namespace neve::hdf5
