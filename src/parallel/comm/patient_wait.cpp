// SPDX-License-Identifier: BSD-3-Clause
#include "parallel/comm/patient_wait.hpp"

#include <sys/prctl.h>

#include <atomic>
#include <chrono>
#include <optional>
#include <thread>

#include "parallel/comm/agree.hpp"

namespace neve::mpi {

namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::microseconds;
// Ranks that are ready together meet within the first time; what a nap adds to a longer wait is little.
// Between naps MPI is asked for a while, since an exchange has several rounds.
constexpr microseconds before_naps{100}, between_naps{5}, short_nap{20};
// Where MPI gives the processor away while it looks, and another program takes it for all of its turn, there
// is one look between longer naps, and a nap first: in so many waits after a look that took so long.
constexpr microseconds dear{2000}, long_nap{100};
constexpr int dear_waits = 8;
std::atomic<int> dear_waits_left{0};

// Lets this thread's naps end in time while it lives: by default the system may add 50 us.
class PunctualNaps {
 public:
  PunctualNaps() : slack_(::prctl(PR_GET_TIMERSLACK, 0, 0, 0, 0)) { set(1); }
  PunctualNaps(const PunctualNaps&) = delete;
  PunctualNaps& operator=(const PunctualNaps&) = delete;
  ~PunctualNaps() {
    if (slack_ > 0) set(static_cast<unsigned long>(slack_));
  }

 private:
  static void set(unsigned long nanoseconds) { ::prctl(PR_SET_TIMERSLACK, nanoseconds, 0, 0, 0); }
  int slack_;
};

}  // namespace

Status wait_patiently(std::span<MPI_Request> requests, std::string_view what) {
  std::optional<PunctualNaps> punctual;
  const auto take_nap = [&](microseconds nap) {
    if (!punctual) punctual.emplace();
    std::this_thread::sleep_for(nap);
  };
  Clock::time_point look_until = Clock::now() + before_naps;
  if (dear_waits_left > 0) {
    --dear_waits_left;
    take_nap(long_nap);
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
    take_nap(dear_waits_left > 0 ? long_nap : short_nap);
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
