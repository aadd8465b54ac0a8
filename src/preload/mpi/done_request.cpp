// SPDX-License-Identifier: BSD-3-Clause
#include "preload/mpi/done_request.hpp"

#include <memory>

namespace neve::pmpi {
namespace {

int query(void* bytes, MPI_Status* status) {
  MPI_Status_set_elements_x(status, MPI_BYTE, static_cast<MPI_Count>(*static_cast<uint64_t*>(bytes)));
  MPI_Status_set_cancelled(status, 0);
  status->MPI_SOURCE = MPI_UNDEFINED;
  status->MPI_TAG = MPI_UNDEFINED;
  return MPI_SUCCESS;
}

int release(void* bytes) {
  delete static_cast<uint64_t*>(bytes);
  return MPI_SUCCESS;
}

int cancel(void*, int) { return MPI_SUCCESS; }

}  // namespace

int make_done_request(uint64_t bytes, MPI_Request* request) {
  auto kept = std::make_unique<uint64_t>(bytes);
  const int code = MPI_Grequest_start(query, release, cancel, kept.get(), request);
  if (code != MPI_SUCCESS) return code;
  kept.release();  // the request's, which releases it
  return MPI_Grequest_complete(*request);
}

}  // namespace neve::pmpi
