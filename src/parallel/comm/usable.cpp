// SPDX-License-Identifier: BSD-3-Clause
#include "parallel/comm/usable.hpp"

#include "parallel/comm/agree.hpp"

namespace neve::mpi {

Status check_mpi_is_usable() {
  int flag = 0;
  MPI_Initialized(&flag);
  if (flag == 0) return usage_error("MPI is not initialized; call MPI_Init or MPI_Init_thread before");
  MPI_Finalized(&flag);
  if (flag != 0) return usage_error("MPI has been finalized; this is allowed before MPI_Finalize only");
  int level = MPI_THREAD_SINGLE;
  NEVE_TRY(mpi_status(MPI_Query_thread(&level), "MPI_Query_thread"));
  if (level >= MPI_THREAD_SERIALIZED) return {};
  NEVE_TRY(mpi_status(MPI_Is_thread_main(&flag), "MPI_Is_thread_main"));
  if (flag != 0) return {};
  return usage_error(std::string("MPI was initialized with ") +
                     (level == MPI_THREAD_SINGLE ? "MPI_THREAD_SINGLE" : "MPI_THREAD_FUNNELED") +
                     ", and this is not the thread that did it; other threads need MPI_THREAD_SERIALIZED, "
                     "several at a time MPI_THREAD_MULTIPLE");
}

Status check_communicator(MPI_Comm comm) {
  NEVE_TRY(check_mpi_is_usable());
  if (comm == MPI_COMM_NULL) return usage_error("communicator is MPI_COMM_NULL; a live one is needed");
  int is_inter = 0;
  NEVE_TRY(mpi_status(MPI_Comm_test_inter(comm, &is_inter), "MPI_Comm_test_inter"));
  if (is_inter == 0) return {};
  return usage_error("the communicator is an intercommunicator; one of a single group is needed");
}

}  // namespace neve::mpi
