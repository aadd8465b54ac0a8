// SPDX-License-Identifier: BSD-3-Clause
// A text from rank 0 to all.
#pragma once

#include <string>

#include "parallel/comm/agree.hpp"

namespace neve::mpi {

// Collective.
inline Status broadcast(const Comm& comm, std::string& text) {
  int length = static_cast<int>(text.size());
  NEVE_TRY(mpi_status(MPI_Bcast(&length, 1, MPI_INT, 0, comm.get()), "broadcast of a text's length"));
  NEVE_TRY(agree(comm, guarded("broadcast of a text", [&]() -> Status {
                   text.resize(static_cast<size_t>(length));
                   return {};
                 })));
  return mpi_status(MPI_Bcast(text.data(), length, MPI_CHAR, 0, comm.get()), "broadcast of a text");
}

}  // namespace neve::mpi
