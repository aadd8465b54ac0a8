// SPDX-License-Identifier: BSD-3-Clause
#include "parallel/comm/agree.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <string_view>

#include "parallel/comm/patient_wait.hpp"
#include "parallel/comm/turns.hpp"
#include "parallel/comm/usable.hpp"

namespace neve::mpi {
namespace {

// The lowest failing rank has the smallest key; its code travels in the low bits.
// (Not above INT64_MAX: MPICH 4.0 reduces MPI_UINT64_T as if it had a sign.)
constexpr uint64_t all_ok_key = std::numeric_limits<int64_t>::max();
constexpr int code_bits = 8;

}  // namespace

Result<Comm> Comm::duplicate(MPI_Comm comm) {
  NEVE_TRY(check_communicator(comm));
  NEVE_ASSIGN(const DuplicationTurn turn, take_duplication_turn(comm));
  Comm copy;
  NEVE_TRY(mpi_status(MPI_Comm_dup(comm, &copy.comm_), "MPI_Comm_dup"));
  NEVE_TRY(mpi_status(MPI_Comm_rank(copy.comm_, &copy.rank_), "MPI_Comm_rank"));
  NEVE_TRY(mpi_status(MPI_Comm_size(copy.comm_, &copy.size_), "MPI_Comm_size"));
  return copy;
}

Comm::~Comm() {
  if (comm_ == MPI_COMM_NULL) return;
  int is_finalized = 0;  // a file that outlives MPI holds one still
  MPI_Finalized(&is_finalized);
  if (is_finalized == 0) MPI_Comm_free(&comm_);
}

Status mpi_status(int return_code, std::string_view what) {
  if (return_code == MPI_SUCCESS) return {};
  char text[MPI_MAX_ERROR_STRING];
  int length = 0;
  if (MPI_Error_string(return_code, text, &length) != MPI_SUCCESS) {
    return failure(std::string(what) + ": MPI error " + std::to_string(return_code));
  }
  return failure(std::string(what) + ": " + std::string(text, static_cast<size_t>(length)));
}

Status mpi_status(int return_code, std::string_view path, std::string_view doing) {
  if (return_code == MPI_SUCCESS) return {};
  return mpi_status(return_code, std::string(path) + ": " + std::string(doing));
}

uint64_t agreement_key(const Comm& comm, const Status& mine) {
  if (mine.ok()) return all_ok_key;
  return (static_cast<uint64_t>(comm.rank()) << code_bits) | static_cast<uint64_t>(mine.code());
}

bool all_agree(uint64_t lowest_key) { return lowest_key == all_ok_key; }

Status agree(const Comm& comm, const Status& mine) {
  const uint64_t key = agreement_key(comm, mine);
  uint64_t lowest = all_ok_key;
  NEVE_TRY(allreduce_patiently(&key, &lowest, 1, MPI_INT64_T, MPI_MIN, comm.get(), "agreement of the ranks"));
  return all_agree(lowest) ? Status() : lowest_failure(comm, lowest, mine);
}

Status lowest_failure(const Comm& comm, uint64_t lowest_key, const Status& mine) {
  const int root = static_cast<int>(lowest_key >> code_bits);
  const auto code = static_cast<Code>(lowest_key & ((1 << code_bits) - 1));
  uint64_t bytes = comm.rank() == root ? mine.message().size() : 0;
  NEVE_TRY(mpi_status(MPI_Bcast(&bytes, 1, MPI_UINT64_T, root, comm.get()), "agreement of the ranks"));
  // Every rank takes part to the end without asking for memory, which may be what has ended: a message that
  // no longer fits is kept as far as it does.
  std::string message;
  bool fits = true;
  const auto keep = [&](std::string_view part) {
    fits = fits && guarded("", [&]() -> Status {
                     message += part;
                     return {};
                   }).ok();
  };
  if (comm.size() > 1) keep("rank ");
  if (comm.size() > 1) keep(std::to_string(root) + ": ");
  std::array<char, 4096> text;
  for (uint64_t at = 0; at < bytes; at += text.size()) {
    const auto part = static_cast<size_t>(std::min<uint64_t>(text.size(), bytes - at));
    if (comm.rank() == root) std::memcpy(text.data(), mine.message().data() + at, part);
    NEVE_TRY(mpi_status(MPI_Bcast(text.data(), static_cast<int>(part), MPI_CHAR, root, comm.get()),
                        "agreement of the ranks"));
    keep(std::string_view(text.data(), part));
  }
  return {code, std::move(message)};
}

}  // namespace neve::mpi
