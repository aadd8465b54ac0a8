// SPDX-License-Identifier: BSD-3-Clause
// neve/transfer.h over gather and point_to_point.
#include <fmt/format.h>

#include <optional>

#include "bindings/c/last_error.hpp"
#include "bindings/c/transfer_call.hpp"
#include "core/format/frame_header.hpp"
#include "parallel/comm/kept_comm.hpp"
#include "parallel/comm/usable.hpp"
#include "parallel/transfer/gather.hpp"
#include "parallel/transfer/point_to_point.hpp"

namespace {

using neve::Status;
using neve::usage_error;
using neve::capi::reported;
using neve::mpi::CallKind;
using neve::mpi::CallOptions;
using neve::mpi::Comm;
using neve::mpi::GatherCall;
using neve::mpi::Moved;

// Arguments of neve_mpi_gather (`counts` null: all as the caller's own) and of neve_mpi_gatherv.
struct GatherArguments {
  const void* send;
  uint64_t count;
  MPI_Datatype type;
  void* recv;
  std::optional<const uint64_t*> counts;
  const uint64_t* displs;
  int root;
  const char* bound;
  const neve_mpi_options* options;
};

Status read_places(const Comm& comm, const GatherArguments& given, GatherCall& call) {
  if (given.counts && *given.counts == nullptr) return usage_error("counts is NULL on root");
  uint64_t next = 0;
  for (int rank = 0; rank < comm.size(); ++rank) {
    const auto r = static_cast<size_t>(rank);
    call.counts.push_back(given.counts ? (*given.counts)[r] : given.count);
    call.displs.push_back(given.displs != nullptr ? given.displs[r] : next);
    const uint64_t count = call.counts.back(), displ = call.displs.back();
    if (count > neve::max_elements || displ > neve::max_elements) {
      return usage_error(fmt::format("{} values of rank {} at {}; at most {} are allowed for both", count,
                                     rank, displ, neve::max_elements));
    }
    next += count;
  }
  call.recv = static_cast<std::byte*>(given.recv);
  return neve::mpi::check_values("recv", given.recv, next);
}

Status read_gather(const Comm& comm, const GatherArguments& given, CallOptions& options, GatherCall& call) {
  NEVE_ASSIGN(options, neve::mpi::read_call(CallKind::gather, given.type, given.bound, given.options));
  call.transfer = options.transfer;
  NEVE_TRY(neve::mpi::check_root(given.root, comm.size()));
  call.root = given.root;
  call.count = given.count;
  const bool is_root = comm.rank() == given.root;
  if (is_root) NEVE_TRY(read_places(comm, given, call));
  if (given.send == MPI_IN_PLACE) {
    if (!is_root) return usage_error("send is MPI_IN_PLACE on a rank that is not root");
    call.count = call.counts[static_cast<size_t>(given.root)];
  } else {
    NEVE_TRY(neve::mpi::check_values("send", given.send, given.count));
    call.send = given.send;
  }
  return neve::mpi::plan_blocks(call.count, neve::dtype_bytes(call.transfer.dtype), call.transfer.block_bytes,
                                call.transfer.layer_shape)
      .status();
}

Status gather_on(MPI_Comm comm, const Comm& all, const GatherArguments& given) {
  CallOptions options;
  GatherCall call;
  NEVE_TRY(neve::mpi::agree(
      all, neve::mpi::guarded("gather", [&] { return read_gather(all, given, options, call); })));
  NEVE_TRY(neve::mpi::check_same_transfer(all, call.transfer, {"root", call.root}));
  if (call.transfer.values.bound.mode == neve::BoundMode::ratio) {
    neve::Result<neve::mpi::RateSites*> sites = Status();
    NEVE_TRY(neve::mpi::agree(all, neve::mpi::guarded("gather", [&] {
                                sites = neve::mpi::RateSites::of(comm);
                                return sites.status();
                              })));
    call.sites = *sites;
  }
  Moved moved;
  neve::mpi::Reached reached;
  NEVE_TRY(neve::mpi::gather_blocks(all, call, moved, reached));
  neve::mpi::report_reached(options, reached);
  uint64_t values = all.rank() == call.root ? 0 : call.count;
  for (int rank = 0; rank < static_cast<int>(call.counts.size()); ++rank) {
    if (rank != call.root) values += call.counts[static_cast<size_t>(rank)];
  }
  neve::mpi::report_moved(options, values, moved);
  return {};
}

Status gather(MPI_Comm comm, const GatherArguments& given) {
  return neve::mpi::with_kept_comm(
      comm, "gather", [&](neve::mpi::KeptComm& kept) { return gather_on(comm, kept.comm(), given); });
}

Status check_tag(MPI_Comm comm, int tag) {
  int* upper_bound = nullptr;
  int is_known = 0;
  NEVE_TRY(neve::mpi::mpi_status(MPI_Comm_get_attr(comm, MPI_TAG_UB, &upper_bound, &is_known),
                                 "MPI_Comm_get_attr"));
  const int most = is_known != 0 ? *upper_bound : 32767;  // what the standard promises
  if (tag >= 0 && tag <= most) return {};
  return usage_error(fmt::format("tag is {}; 0 to {} are allowed", tag, most));
}

// `also`: what else may stand in the place of a rank, for the message.
Status check_peer(MPI_Comm comm, const char* name, int rank, const char* also) {
  int size = 0;
  NEVE_TRY(neve::mpi::mpi_status(MPI_Comm_size(comm, &size), "MPI_Comm_size"));
  if (rank == MPI_PROC_NULL || (rank >= 0 && rank < size)) return {};
  return usage_error(fmt::format("{} is {}; 0 to {} and {} are allowed", name, rank, size - 1, also));
}

Status send(MPI_Comm comm, const void* values, uint64_t count, MPI_Datatype type, int dest, int tag,
            const char* bound, const neve_mpi_options* given) {
  NEVE_TRY(neve::mpi::check_communicator(comm));
  NEVE_TRY(neve::mpi::check_values("values", values, count));
  NEVE_TRY(check_peer(comm, "dest", dest, "MPI_PROC_NULL"));
  NEVE_TRY(check_tag(comm, tag));
  NEVE_ASSIGN(const CallOptions options, neve::mpi::read_call(CallKind::other, type, bound, given));
  Moved moved;
  const bool is_nobody = dest == MPI_PROC_NULL;
  if (!is_nobody) NEVE_TRY(neve::mpi::send_values(comm, options.transfer, values, count, dest, tag, moved));
  neve::mpi::report_moved(options, is_nobody ? 0 : count, moved);
  return {};
}

Status receive(MPI_Comm comm, void* values, uint64_t count, MPI_Datatype type, int source, int tag,
               const neve_mpi_options* given, uint64_t* received, MPI_Status* status) {
  NEVE_TRY(neve::mpi::check_communicator(comm));
  NEVE_TRY(neve::mpi::check_values("values", values, count));
  if (source != MPI_ANY_SOURCE) NEVE_TRY(check_peer(comm, "source", source, "MPI_ANY_SOURCE, MPI_PROC_NULL"));
  if (tag != MPI_ANY_TAG) NEVE_TRY(check_tag(comm, tag));
  NEVE_ASSIGN(const CallOptions options, neve::mpi::read_call(CallKind::other, type, nullptr, given));
  Moved moved;
  uint64_t came = 0;
  MPI_Status from;
  from.MPI_SOURCE = MPI_PROC_NULL;
  from.MPI_TAG = MPI_ANY_TAG;
  if (source != MPI_PROC_NULL) {
    NEVE_TRY(
        neve::mpi::receive_values(comm, options.transfer, values, count, source, tag, came, from, moved));
  }
  if (received != nullptr) *received = came;
  if (status != MPI_STATUS_IGNORE && status != nullptr) {
    status->MPI_SOURCE = from.MPI_SOURCE;
    status->MPI_TAG = from.MPI_TAG;
  }
  neve::mpi::report_moved(options, came, moved);
  return {};
}

}  // namespace

int neve_mpi_gather(const void* values, uint64_t count, MPI_Datatype type, void* recv, int root,
                    MPI_Comm comm, const char* bound, const neve_mpi_options* options) {
  return reported([&] {
    return gather(comm, {values, count, type, recv, {}, nullptr, root, bound, options});
  });
}

int neve_mpi_gatherv(const void* values, uint64_t count, MPI_Datatype type, void* recv,
                     const uint64_t* counts, const uint64_t* displs, int root, MPI_Comm comm,
                     const char* bound, const neve_mpi_options* options) {
  return reported([&] {
    return gather(comm, {values, count, type, recv, counts, displs, root, bound, options});
  });
}

int neve_mpi_send(const void* values, uint64_t count, MPI_Datatype type, int dest, int tag, MPI_Comm comm,
                  const char* bound, const neve_mpi_options* options) {
  return reported([&] { return send(comm, values, count, type, dest, tag, bound, options); });
}

int neve_mpi_recv(void* values, uint64_t count, MPI_Datatype type, int source, int tag, MPI_Comm comm,
                  const neve_mpi_options* options, uint64_t* received, MPI_Status* status) {
  return reported([&] { return receive(comm, values, count, type, source, tag, options, received, status); });
}
