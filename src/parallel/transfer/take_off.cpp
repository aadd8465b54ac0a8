// SPDX-License-Identifier: BSD-3-Clause
#include "parallel/transfer/take_off.hpp"

#include <array>
#include <cstddef>

#include "parallel/comm/agree.hpp"
#include "parallel/transfer/failure_message.hpp"

namespace neve::mpi {

// Into one byte over and over: a shorter buffer would be an error of MPI's, which ends most programs.
Status take_off(MPI_Message& message, int bytes) {
  MPI_Datatype same_byte = MPI_DATATYPE_NULL;
  NEVE_TRY(mpi_status(MPI_Type_create_resized(MPI_BYTE, 0, 0, &same_byte), "MPI_Type_create_resized"));
  NEVE_TRY(mpi_status(MPI_Type_commit(&same_byte), "MPI_Type_commit"));
  std::byte sink{};
  const Status received =
      mpi_status(MPI_Mrecv(&sink, bytes, same_byte, &message, MPI_STATUS_IGNORE), "MPI_Mrecv");
  MPI_Type_free(&same_byte);
  return received;
}

Status take_off_blocks(MPI_Comm comm, int source, int tag, const BlockPlan& plan, Status& sent) {
  for (size_t block = 0; block < plan.blocks(); ++block) {
    MPI_Message message = MPI_MESSAGE_NULL;
    MPI_Status status;
    int bytes = 0;
    NEVE_TRY(mpi_status(MPI_Mprobe(source, tag, comm, &message, &status), "MPI_Mprobe"));
    NEVE_TRY(mpi_status(MPI_Get_count(&status, MPI_BYTE, &bytes), "MPI_Get_count"));
    std::array<std::byte, max_failure_bytes> text;
    if (static_cast<size_t>(bytes) > text.size()) {
      NEVE_TRY(take_off(message, bytes));
      continue;
    }
    NEVE_TRY(mpi_status(MPI_Mrecv(text.data(), bytes, MPI_BYTE, &message, MPI_STATUS_IGNORE), "MPI_Mrecv"));
    if (auto failed = read_failure({text.data(), static_cast<size_t>(bytes)})) {
      sent = std::move(*failed);
      return {};
    }
  }
  return {};
}

}  // namespace neve::mpi
