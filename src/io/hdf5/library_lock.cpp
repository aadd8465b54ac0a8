// SPDX-License-Identifier: BSD-3-Clause
#include "io/hdf5/library_lock.hpp"

#include <mpi.h>

namespace neve::hdf5 {

std::recursive_mutex& LibraryLock::mutex() {
  // Never destroyed: readers may outlive main().
  static auto* const one = new std::recursive_mutex;
  return *one;
}

bool is_after_mpi() {
  int is_finalized = 0;
  MPI_Finalized(&is_finalized);
  return is_finalized != 0;
}

}  // namespace neve::hdf5
