// SPDX-License-Identifier: BSD-3-Clause
#include "parallel/transfer/pattern.hpp"

#include "parallel/comm/patient_wait.hpp"

namespace neve::mpi {
namespace {

bool is_of_root(Pattern pattern) { return pattern == Pattern::bcast || pattern == Pattern::scatter; }

}  // namespace

size_t parts_out(Pattern pattern, const Comm& comm, int root) {
  if (is_of_root(pattern) && comm.rank() != root) return 0;
  return pattern == Pattern::allgather || pattern == Pattern::bcast ? 1 : static_cast<size_t>(comm.size());
}

size_t parts_in(Pattern pattern, const Comm& comm, int root) {
  if (pattern == Pattern::bcast) return comm.rank() == root ? 0 : 1;
  return pattern == Pattern::scatter ? 1 : static_cast<size_t>(comm.size());
}

Status exchange_words(Pattern pattern, const Comm& comm, int root, const uint64_t* out, uint64_t* in,
                      int words) {
  MPI_Request request = MPI_REQUEST_NULL;
  const int code = [&] {
    const MPI_Datatype type = MPI_UINT64_T;
    switch (pattern) {
      case Pattern::allgather:
        return MPI_Iallgather(out, words, type, in, words, type, comm.get(), &request);
      case Pattern::alltoall:
        return MPI_Ialltoall(out, words, type, in, words, type, comm.get(), &request);
      case Pattern::scatter:
        return MPI_Iscatter(out, words, type, in, words, type, root, comm.get(), &request);
      case Pattern::bcast:
        break;
    }
    return MPI_Ibcast(comm.rank() == root ? const_cast<uint64_t*>(out) : in, words, type, root, comm.get(),
                      &request);
  }();
  NEVE_TRY(mpi_status(code, "exchange of sizes"));
  return wait_patiently({&request, 1}, "exchange of sizes");
}

Status begin_move(Pattern pattern, const Comm& comm, int root, const Messages& out, const Messages& in,
                  MPI_Datatype unit, MPI_Request* request) {
  const int code = [&] {
    switch (pattern) {
      case Pattern::allgather:
        return MPI_Iallgatherv(out.data, out.units[0], unit, in.data, in.units.data(), in.places.data(), unit,
                               comm.get(), request);
      case Pattern::alltoall:
        return MPI_Ialltoallv(out.data, out.units.data(), out.places.data(), unit, in.data, in.units.data(),
                              in.places.data(), unit, comm.get(), request);
      case Pattern::scatter:
        return MPI_Iscatterv(out.data, out.units.data(), out.places.data(), unit, in.data, in.units[0], unit,
                             root, comm.get(), request);
      case Pattern::bcast:
        break;
    }
    const Messages& mine = comm.rank() == root ? out : in;
    return MPI_Ibcast(mine.data, mine.units[0], unit, root, comm.get(), request);
  }();
  return mpi_status(code, "moving blocks");
}

}  // namespace neve::mpi
