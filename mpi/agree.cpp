// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/agree.hpp"

#include <cstdint>
#include <limits>

namespace neve::mpi {
namespace {

// The lowest failing rank has the smallest key; its code travels in the low bits.
constexpr int64_t all_ok_key = std::numeric_limits<int64_t>::max();
constexpr int code_bits = 8;

}  // namespace

Result<Comm> Comm::duplicate(MPI_Comm comm) {
  if (comm == MPI_COMM_NULL) return usage_error("communicator is MPI_COMM_NULL; a live one is needed");
  Comm copy;
  NEVE_TRY(mpi_status(MPI_Comm_dup(comm, &copy.comm_), "MPI_Comm_dup"));
  NEVE_TRY(mpi_status(MPI_Comm_rank(copy.comm_, &copy.rank_), "MPI_Comm_rank"));
  NEVE_TRY(mpi_status(MPI_Comm_size(copy.comm_, &copy.size_), "MPI_Comm_size"));
  return copy;
}

Comm::~Comm() {
  if (comm_ != MPI_COMM_NULL) MPI_Comm_free(&comm_);
}

Status mpi_status(int return_code, const std::string& what) {
  if (return_code == MPI_SUCCESS) return {};
  char text[MPI_MAX_ERROR_STRING];
  int length = 0;
  if (MPI_Error_string(return_code, text, &length) != MPI_SUCCESS) {
    return failure(what + ": MPI error " + std::to_string(return_code));
  }
  return failure(what + ": " + std::string(text, static_cast<size_t>(length)));
}

Status agree(const Comm& comm, const Status& mine) {
  const int64_t key =
      mine.ok() ? all_ok_key : (int64_t{comm.rank()} << code_bits) | static_cast<int64_t>(mine.code());
  int64_t lowest = all_ok_key;
  NEVE_TRY(mpi_status(MPI_Allreduce(&key, &lowest, 1, MPI_INT64_T, MPI_MIN, comm.get()),
                      "agreement of the ranks"));
  if (lowest == all_ok_key) return {};

  const int root = static_cast<int>(lowest >> code_bits);
  const auto code = static_cast<Code>(lowest & ((1 << code_bits) - 1));
  std::string message = comm.rank() == root ? mine.message() : std::string();
  int length = static_cast<int>(message.size());
  NEVE_TRY(mpi_status(MPI_Bcast(&length, 1, MPI_INT, root, comm.get()), "agreement of the ranks"));
  message.resize(static_cast<size_t>(length));
  NEVE_TRY(
      mpi_status(MPI_Bcast(message.data(), length, MPI_CHAR, root, comm.get()), "agreement of the ranks"));
  if (comm.size() > 1) message = "rank " + std::to_string(root) + ": " + message;
  return {code, message};
}

}  // namespace neve::mpi
