// SPDX-License-Identifier: BSD-3-Clause
// Requests of calls that do not wait: done at once, or a receive that no message has come for yet.
#pragma once

#include "alone/mpi.h"

namespace neve::alone {

struct Request {
  void* values = nullptr;
  int room = 0;
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Comm comm = MPI_COMM_NULL;
  int tag = 0;
  bool is_done = false;
  int result = MPI_SUCCESS;
  MPI_Status status;
};

// A request that is done, of a call that has returned `result`; the call's own result.
int finished(int result, MPI_Request* request);

}  // namespace neve::alone
