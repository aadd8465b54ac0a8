// SPDX-License-Identifier: BSD-3-Clause
// A slow link for programs that link this before MPI, under both names of its functions: NEVE_TEST_LINK bytes
// a second into a rank, or to the file from a rank. At the end rank 0 says how many reductions there were.
#include <dlfcn.h>
#include <mpi.h>

#include <cstdio>
#include <cstdlib>

#include "bench/harness/imitated_link.hpp"

using neve::apps::through_link;

namespace {

int reductions = 0;

template <class Function>
Function next_function(const char* name) {
  return reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
}

double bytes_of(int count, MPI_Datatype type) {
  int size = 0;
  MPI_Type_size(type, &size);
  return 1.0 * count * size;
}

[[maybe_unused]] const bool is_set = [] {
  const char* const text = std::getenv("NEVE_TEST_LINK");
  const double speed = text == nullptr ? 0 : std::atof(text);
  neve::apps::imitate_link({speed, speed});
  return true;
}();

}  // namespace

#define NEVE_BEFORE_MPI extern "C" __attribute__((visibility("default")))

NEVE_BEFORE_MPI int PMPI_Gather(const void* send, int send_count, MPI_Datatype send_type, void* receive,
                                int count, MPI_Datatype type, int root, MPI_Comm comm) {
  return MPI_Gather(send, send_count, send_type, receive, count, type, root, comm);
}

NEVE_BEFORE_MPI int PMPI_Gatherv(const void* send, int send_count, MPI_Datatype send_type, void* receive,
                                 const int counts[], const int displs[], MPI_Datatype type, int root,
                                 MPI_Comm comm) {
  static const auto next = next_function<decltype(&MPI_Gatherv)>("MPI_Gatherv");
  int rank = 0, ranks = 1;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &ranks);
  double bytes = 0;
  for (int other = 0; rank == root && other < ranks; ++other) {
    if (other != root) bytes += bytes_of(counts[other], type);
  }
  return through_link(bytes, neve::apps::imitated_link().into_rank, [&] {
    return next(send, send_count, send_type, receive, counts, displs, type, root, comm);
  });
}

NEVE_BEFORE_MPI int MPI_File_write_at(MPI_File file, MPI_Offset at, const void* values, int count,
                                      MPI_Datatype type, MPI_Status* written) {
  static const auto next = next_function<decltype(&MPI_File_write_at)>("MPI_File_write_at");
  return through_link(bytes_of(count, type), neve::apps::imitated_link().to_file,
                      [&] { return next(file, at, values, count, type, written); });
}

NEVE_BEFORE_MPI int MPI_File_write_at_all(MPI_File file, MPI_Offset at, const void* values, int count,
                                          MPI_Datatype type, MPI_Status* written) {
  static const auto next = next_function<decltype(&MPI_File_write_at_all)>("MPI_File_write_at_all");
  return through_link(bytes_of(count, type), neve::apps::imitated_link().to_file,
                      [&] { return next(file, at, values, count, type, written); });
}

NEVE_BEFORE_MPI int PMPI_File_write_at_all(MPI_File file, MPI_Offset at, const void* values, int count,
                                           MPI_Datatype type, MPI_Status* written) {
  return MPI_File_write_at_all(file, at, values, count, type, written);
}

NEVE_BEFORE_MPI int MPI_Allreduce(const void* send, void* receive, int count, MPI_Datatype type,
                                  MPI_Op operation, MPI_Comm comm) {
  static const auto next = next_function<decltype(&MPI_Allreduce)>("MPI_Allreduce");
  ++reductions;
  return next(send, receive, count, type, operation, comm);
}

NEVE_BEFORE_MPI int PMPI_Finalize() {
  static const auto next = next_function<decltype(&MPI_Finalize)>("PMPI_Finalize");
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) std::printf("%d reductions\n", reductions);
  return next();
}

NEVE_BEFORE_MPI int MPI_Finalize() { return PMPI_Finalize(); }
