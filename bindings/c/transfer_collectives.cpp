// SPDX-License-Identifier: BSD-3-Clause
// neve/transfer.h over rounds: collective calls other than gathers.
#include <fmt/format.h>

#include <cstring>
#include <optional>

#include "bindings/c/last_error.hpp"
#include "bindings/c/transfer_call.hpp"
#include "core/format/frame_header.hpp"
#include "parallel/comm/kept_comm.hpp"
#include "parallel/transfer/rounds.hpp"

namespace {

using neve::Status;
using neve::usage_error;
using neve::capi::reported;
using neve::mpi::CallKind;
using neve::mpi::CallOptions;
using neve::mpi::Comm;
using neve::mpi::Pattern;
using neve::mpi::RoundsCall;

// A buffer with a part of each rank, or one part alone.
struct Buffer {
  const char* name;
  void* data = nullptr;
  uint64_t count = 0;  // of each part, where there are no counts
  // Those of the caller, which may be null; not there where the function has none.
  std::optional<const uint64_t*> counts = {};
  const uint64_t* displs = nullptr;
};

struct Arguments {
  Pattern pattern;
  Buffer send, recv;
  MPI_Datatype type;
  int root;
  const char* bound;
  const neve_mpi_options* options;
};

struct Part {
  uint64_t first = 0, count = 0;
};

neve::Result<std::vector<Part>> read_parts(const Buffer& buffer, size_t parts) {
  if (buffer.counts && *buffer.counts == nullptr && parts > 0) {
    return usage_error(fmt::format("the counts of {} are NULL", buffer.name));
  }
  std::vector<Part> found;
  uint64_t next = 0;
  for (size_t part = 0; part < parts; ++part) {
    const uint64_t count = buffer.counts ? (*buffer.counts)[part] : buffer.count;
    const uint64_t first = buffer.displs != nullptr ? buffer.displs[part] : next;
    if (count > neve::max_elements || first > neve::max_elements) {
      return usage_error(fmt::format("{} values at {} of {}; at most {} are allowed for both", count, first,
                                     buffer.name, neve::max_elements));
    }
    found.push_back({first, count});
    next += count;
  }
  NEVE_TRY(neve::mpi::check_values(buffer.name, buffer.data, next));
  return found;
}

std::byte* at(const Buffer& buffer, const Part& part, size_t value_bytes) {
  return static_cast<std::byte*>(buffer.data) + part.first * value_bytes;
}

// The values that go out of a buffer that is both: they are there no more when they are needed.
struct Copies {
  std::vector<std::byte> bytes;
};

// Of a rank that gave MPI_IN_PLACE for what it sends.
Status send_in_place(const Comm& comm, const Arguments& given, const std::vector<Part>& received,
                     RoundsCall& call, Copies& copies) {
  const size_t value_bytes = neve::dtype_bytes(call.transfer.dtype);
  if (given.pattern == Pattern::allgather) {
    const Part& own = received[static_cast<size_t>(comm.rank())];
    call.out.push_back({at(given.recv, own, value_bytes), own.count});
    return {};
  }
  uint64_t total = 0;
  for (const Part& part : received) total += part.count;
  copies.bytes.resize(total * value_bytes);
  std::byte* next = copies.bytes.data();
  for (const Part& part : received) {
    if (part.count > 0) std::memcpy(next, at(given.recv, part, value_bytes), part.count * value_bytes);
    call.out.push_back({next, part.count});
    next += part.count * value_bytes;
  }
  return {};
}

Status read_sent(const Comm& comm, const Arguments& given, const std::vector<Part>& received,
                 RoundsCall& call, Copies& copies) {
  const size_t parts = neve::mpi::parts_out(given.pattern, comm, given.root);
  if (given.send.data == MPI_IN_PLACE && parts > 0) {
    const bool is_allowed = given.pattern == Pattern::allgather || given.pattern == Pattern::alltoall;
    if (!is_allowed) return usage_error(fmt::format("{} is MPI_IN_PLACE", given.send.name));
    return send_in_place(comm, given, received, call, copies);
  }
  NEVE_ASSIGN(const std::vector<Part> sent, read_parts(given.send, parts));
  for (const Part& part : sent) {
    call.out.push_back({at(given.send, part, neve::dtype_bytes(call.transfer.dtype)), part.count});
  }
  return {};
}

Status read_arguments(const Comm& comm, const Arguments& given, CallOptions& options, RoundsCall& call,
                      Copies& copies) {
  NEVE_ASSIGN(options, neve::mpi::read_call(CallKind::collective, given.type, given.bound, given.options));
  NEVE_TRY(neve::mpi::check_root(given.root, comm.size()));
  call.pattern = given.pattern;
  call.root = given.root;
  call.transfer = options.transfer;
  const size_t parts = neve::mpi::parts_in(given.pattern, comm, given.root);
  const bool stays = given.recv.data == MPI_IN_PLACE && parts > 0;  // root's part of a scatter
  if (stays && (given.pattern != Pattern::scatter || comm.rank() != given.root)) {
    return usage_error(fmt::format("{} is MPI_IN_PLACE", given.recv.name));
  }
  std::vector<Part> received;
  if (!stays) {
    NEVE_ASSIGN(received, read_parts(given.recv, parts));
  }
  for (const Part& part : received) {
    call.in.push_back({at(given.recv, part, neve::dtype_bytes(call.transfer.dtype)), part.count});
  }
  NEVE_TRY(read_sent(comm, given, received, call, copies));
  if (!stays) return {};
  const neve::mpi::OutPart& own = call.out[static_cast<size_t>(comm.rank())];
  call.in.push_back({const_cast<void*>(own.data), own.count});
  return {};
}

// What this rank sends to others, or gets of them.
uint64_t moved_values(const Comm& comm, const RoundsCall& call) {
  const bool has_own_out = call.pattern == Pattern::alltoall || call.pattern == Pattern::scatter;
  const bool has_own_in = call.pattern == Pattern::allgather || call.pattern == Pattern::alltoall;
  const auto rank = static_cast<size_t>(comm.rank());
  if (comm.size() == 1) return 0;
  uint64_t values = 0;
  for (size_t part = 0; part < call.out.size(); ++part) {
    if (!has_own_out || part != rank) values += call.out[part].count;
  }
  for (size_t part = 0; part < call.in.size(); ++part) {
    if (has_own_in && part == rank) continue;
    if (call.pattern == Pattern::scatter && comm.rank() == call.root) continue;
    values += call.in[part].count;
  }
  return values;
}

Status move_on(const Comm& comm, const Arguments& given) {
  CallOptions options;
  RoundsCall call;
  Copies copies;
  NEVE_TRY(neve::mpi::agree(comm, neve::mpi::guarded("arguments", [&] {
                              return read_arguments(comm, given, options, call, copies);
                            })));
  NEVE_TRY(neve::mpi::check_same_transfer(comm, call.transfer, {"root", call.root}));
  neve::mpi::Moved moved;
  neve::mpi::Reached reached;
  NEVE_TRY(neve::mpi::move_in_rounds(comm, call, moved, reached));
  neve::mpi::report_reached(options, reached);
  neve::mpi::report_moved(options, moved_values(comm, call), moved);
  return {};
}

int collective(MPI_Comm comm, const Arguments& given) {
  return reported([&] {
    return neve::mpi::with_kept_comm(comm, "collective call",
                                     [&](neve::mpi::KeptComm& kept) { return move_on(kept.comm(), given); });
  });
}

void* sent(const void* data) { return const_cast<void*>(data); }

}  // namespace

int neve_mpi_allgather(const void* send, uint64_t count, MPI_Datatype type, void* recv, MPI_Comm comm,
                       const char* bound, const neve_mpi_options* options) {
  return collective(
      comm,
      {Pattern::allgather, {"send", sent(send), count}, {"recv", recv, count}, type, 0, bound, options});
}

int neve_mpi_allgatherv(const void* send, uint64_t count, MPI_Datatype type, void* recv,
                        const uint64_t* counts, const uint64_t* displs, MPI_Comm comm, const char* bound,
                        const neve_mpi_options* options) {
  return collective(comm, {Pattern::allgather,
                           {"send", sent(send), count},
                           {"recv", recv, 0, counts, displs},
                           type,
                           0,
                           bound,
                           options});
}

int neve_mpi_alltoall(const void* send, uint64_t count, MPI_Datatype type, void* recv, MPI_Comm comm,
                      const char* bound, const neve_mpi_options* options) {
  return collective(
      comm, {Pattern::alltoall, {"send", sent(send), count}, {"recv", recv, count}, type, 0, bound, options});
}

int neve_mpi_alltoallv(const void* send, const uint64_t* send_counts, const uint64_t* send_displs,
                       MPI_Datatype type, void* recv, const uint64_t* recv_counts,
                       const uint64_t* recv_displs, MPI_Comm comm, const char* bound,
                       const neve_mpi_options* options) {
  return collective(comm, {Pattern::alltoall,
                           {"send", sent(send), 0, send_counts, send_displs},
                           {"recv", recv, 0, recv_counts, recv_displs},
                           type,
                           0,
                           bound,
                           options});
}

int neve_mpi_bcast(void* values, uint64_t count, MPI_Datatype type, int root, MPI_Comm comm,
                   const char* bound, const neve_mpi_options* options) {
  return collective(
      comm,
      {Pattern::bcast, {"values", values, count}, {"values", values, count}, type, root, bound, options});
}

int neve_mpi_scatter(const void* send, uint64_t count, MPI_Datatype type, void* recv, int root, MPI_Comm comm,
                     const char* bound, const neve_mpi_options* options) {
  return collective(
      comm,
      {Pattern::scatter, {"send", sent(send), count}, {"recv", recv, count}, type, root, bound, options});
}

int neve_mpi_scatterv(const void* send, const uint64_t* counts, const uint64_t* displs, MPI_Datatype type,
                      void* recv, uint64_t count, int root, MPI_Comm comm, const char* bound,
                      const neve_mpi_options* options) {
  return collective(comm, {Pattern::scatter,
                           {"send", sent(send), 0, counts, displs},
                           {"recv", recv, count},
                           type,
                           root,
                           bound,
                           options});
}
