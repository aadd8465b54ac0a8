// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <cstdint>

namespace neve::pmpi {

// The request of a nonblocking call that has moved so many bytes and is complete. An MPI error code.
int make_done_request(uint64_t bytes, MPI_Request* request);

}  // namespace neve::pmpi
