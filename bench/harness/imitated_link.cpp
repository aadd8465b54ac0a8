// SPDX-License-Identifier: BSD-3-Clause
// The program's own definitions of MPI calls that receive, as held_write_errors.cpp has those that write.
#include "bench/harness/imitated_link.hpp"

#include <dlfcn.h>
#include <mpi.h>

#include <algorithm>
#include <vector>

namespace neve::apps {
namespace {

using Clock = std::chrono::steady_clock;

ImitatedLink slow;
Clock::time_point busy_until;  // the link into this rank

struct UnderWay {
  MPI_Request request;
  Clock::time_point until;
};
std::vector<UnderWay> under_way;

template <class Function>
Function next_function(const char* name) {
  return reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
}

double bytes_of(double count, MPI_Datatype type) {
  int size = 0;
  return MPI_Type_size(type, &size) == MPI_SUCCESS ? count * size : 0;
}

}  // namespace

void imitate_link(const ImitatedLink& link) {
  slow = link;
  busy_until = Clock::now();
}

const ImitatedLink& imitated_link() { return slow; }

}  // namespace neve::apps

using namespace neve::apps;

#define NEVE_BEFORE_MPI extern "C" __attribute__((visibility("default")))

NEVE_BEFORE_MPI int MPI_Gather(const void* send, int send_count, MPI_Datatype send_type, void* recv,
                               int recv_count, MPI_Datatype recv_type, int root, MPI_Comm comm) {
  static const auto next = next_function<decltype(&MPI_Gather)>("MPI_Gather");
  const auto call = [&] {
    return next(send, send_count, send_type, recv, recv_count, recv_type, root, comm);
  };
  if (slow.into_rank <= 0) return call();
  int rank = 0, ranks = 1;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &ranks);
  const double others = rank == root ? bytes_of(recv_count, recv_type) * (ranks - 1) : 0;
  return through_link(others, slow.into_rank, call);
}

NEVE_BEFORE_MPI int MPI_Imrecv(void* data, int count, MPI_Datatype type, MPI_Message* message,
                               MPI_Request* request) {
  static const auto next = next_function<decltype(&MPI_Imrecv)>("MPI_Imrecv");
  const int code = next(data, count, type, message, request);
  if (code != MPI_SUCCESS || slow.into_rank <= 0) return code;
  busy_until = std::max(busy_until, Clock::now()) + time_on_link(bytes_of(count, type), slow.into_rank);
  under_way.push_back({*request, busy_until});
  return code;
}

NEVE_BEFORE_MPI int MPI_Test(MPI_Request* request, int* is_done, MPI_Status* status) {
  static const auto next = next_function<decltype(&MPI_Test)>("MPI_Test");
  const auto found = std::find_if(under_way.begin(), under_way.end(),
                                  [&](const UnderWay& one) { return one.request == *request; });
  if (found == under_way.end()) return next(request, is_done, status);
  if (Clock::now() < found->until) {
    *is_done = 0;
    int is_here = 0;
    return MPI_Request_get_status(*request, &is_here, MPI_STATUS_IGNORE);  // MPI goes on meanwhile
  }
  const int code = next(request, is_done, status);
  if (*is_done != 0) under_way.erase(found);
  return code;
}
