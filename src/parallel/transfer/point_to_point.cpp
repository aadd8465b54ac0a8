// SPDX-License-Identifier: BSD-3-Clause
#include "parallel/transfer/point_to_point.hpp"

#include <fmt/format.h>

#include <cstring>
#include <string_view>

#include "parallel/transfer/receive_blocks.hpp"
#include "parallel/transfer/take_off.hpp"

namespace neve::mpi {
namespace {

constexpr std::string_view magic = "NEVESEND";
constexpr uint32_t protocol = 1;

// Both ends run the same program on machines of the same kind, so memory is the format.
struct Announcement {
  char magic[8];
  uint32_t protocol;
  uint32_t dtype;
  uint64_t count;
  uint64_t block_values;
};

Status check_announcement(const Announcement& a, int bytes) {
  if (std::memcmp(a.magic, magic.data(), magic.size()) != 0) {
    return usage_error(
        fmt::format("a message of {} bytes came that is not the beginning of a neve_mpi_send", bytes));
  }
  if (a.protocol != protocol || a.dtype >= dtypes || a.block_values == 0 ||
      a.block_values > max_block_bytes / dtype_bytes(static_cast<DType>(a.dtype))) {
    return corrupt("the beginning of a neve_mpi_send is damaged, or of another version of neve");
  }
  return {};
}

}  // namespace

Status send_values(MPI_Comm comm, const Transfer& transfer, const void* values, uint64_t count, int dest,
                   int tag, Moved& moved) {
  NEVE_ASSIGN(const BlockPlan plan,
              plan_blocks(count, dtype_bytes(transfer.dtype), transfer.block_bytes, transfer.layer_shape));
  Announcement a{{}, protocol, static_cast<uint32_t>(transfer.dtype), plan.count, plan.block_values};
  std::memcpy(a.magic, magic.data(), magic.size());
  int rank = 0;
  NEVE_TRY(mpi_status(MPI_Comm_rank(comm, &rank), "MPI_Comm_rank"));
  NEVE_ASSIGN(const auto whole, measure_alone(transfer, plan, values));
  const BlockEncoder encoder(transfer, plan, values, whole, rank);
  NEVE_TRY(mpi_status(MPI_Send(&a, sizeof a, MPI_BYTE, dest, tag, comm), "MPI_Send"));
  return send_blocks(comm, dest, tag, encoder, moved);
}

Status receive_values(MPI_Comm comm, const Transfer& transfer, void* values, uint64_t room, int source,
                      int tag, uint64_t& received, MPI_Status& from, Moved& moved) {
  MPI_Message handle = MPI_MESSAGE_NULL;
  NEVE_TRY(mpi_status(MPI_Mprobe(source, tag, comm, &handle, &from), "MPI_Mprobe"));
  int bytes = 0;
  NEVE_TRY(mpi_status(MPI_Get_count(&from, MPI_BYTE, &bytes), "MPI_Get_count"));
  Announcement a{};
  if (bytes == sizeof a) {
    NEVE_TRY(mpi_status(MPI_Mrecv(&a, bytes, MPI_BYTE, &handle, MPI_STATUS_IGNORE), "MPI_Mrecv"));
  } else {
    NEVE_TRY(take_off(handle, bytes));
  }
  NEVE_TRY(check_announcement(a, bytes));

  const auto dtype = static_cast<DType>(a.dtype);
  const Status fits = guarded("receive", [&]() -> Status {
    if (dtype != transfer.dtype) {
      return usage_error(fmt::format("rank {} sends {} values, and {} are expected", from.MPI_SOURCE,
                                     dtype_name(dtype), dtype_name(transfer.dtype)));
    }
    if (a.count <= room) return {};
    return usage_error(
        fmt::format("rank {} sends {} values, and there is room for {}", from.MPI_SOURCE, a.count, room));
  });
  const Incoming incoming{
      from.MPI_SOURCE, {a.count, a.block_values}, fits.ok() ? static_cast<std::byte*>(values) : nullptr};
  const Received arrived = receive_blocks(comm, from.MPI_SOURCE, from.MPI_TAG, dtype,
                                          transfer.values.encode.threads, std::span(&incoming, 1), moved);
  NEVE_TRY(fits);
  NEVE_TRY(arrived.own);
  NEVE_TRY(arrived.sent);
  received = a.count;
  return {};
}

}  // namespace neve::mpi
