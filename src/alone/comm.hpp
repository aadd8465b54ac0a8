// SPDX-License-Identifier: BSD-3-Clause
// Communicators: one process, and the attributes that programs hang on it.
#pragma once

#include <vector>

#include "alone/mpi.h"

namespace neve::alone {

struct Attribute {
  int key = MPI_KEYVAL_INVALID;
  void* value = nullptr;
};

struct Comm {
  std::vector<Attribute> attributes;  // in the order in which they were set
};

struct ErrorHandler {};

// The last one that was set first, as MPI_Finalize and MPI_Comm_free do.
int drop_attributes(Comm* comm);

}  // namespace neve::alone
