// SPDX-License-Identifier: BSD-3-Clause
#include "parallel/comm/patient_wait.hpp"

#include <atomic>
#include <chrono>
#include <thread>

#include "parallel/comm/agree.hpp"

namespace neve::mpi {

namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::microseconds;
// Ranks that are ready together meet within the first time; what a nap adds to a longer wait is little.
// Between naps MPI is asked for a while, since an exchange has several rounds.
constexpr microseconds before_naps{50}, between_naps{3}, short_nap{20};
// Where MPI gives the processor away while it looks and another process takes it, each look costs that one's
// turn, milliseconds: then there is one look between longer naps.
constexpr microseconds dear{500}, long_nap{200};
// For so many waits after a dear look.
constexpr int dear_waits = 16;
std::atomic<int> dear_waits_left{0};

}  // namespace

Status wait_patiently(std::span<MPI_Request> requests, std::string_view what) {
  Clock::time_point look_until = Clock::now() + before_naps;
  if (dear_waits_left > 0) {
    --dear_waits_left;
    std::this_thread::sleep_for(long_nap);
  }
  for (;;) {
    const Clock::time_point asked = Clock::now();
    int done = 0;
    NEVE_TRY(mpi_status(
        MPI_Testall(static_cast<int>(requests.size()), requests.data(), &done, MPI_STATUSES_IGNORE), what));
    if (done != 0) return {};
    const Clock::time_point told = Clock::now();
    if (told - asked > dear) dear_waits_left = dear_waits;
    if (dear_waits_left == 0 && told < look_until) continue;
    std::this_thread::sleep_for(dear_waits_left > 0 ? long_nap : short_nap);
    look_until = Clock::now() + between_naps;
  }
}

Status allreduce_patiently(const void* own, void* all, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm,
                           std::string_view what) {
  MPI_Request request = MPI_REQUEST_NULL;
  NEVE_TRY(mpi_status(MPI_Iallreduce(own, all, count, type, op, comm, &request), what));
  return wait_patiently({&request, 1}, what);
}

Status broadcast_patiently(void* values, int count, MPI_Datatype type, int root, MPI_Comm comm,
                           std::string_view what) {
  MPI_Request request = MPI_REQUEST_NULL;
  NEVE_TRY(mpi_status(MPI_Ibcast(values, count, type, root, comm, &request), what));
  return wait_patiently({&request, 1}, what);
}

}  // namespace neve::mpi
