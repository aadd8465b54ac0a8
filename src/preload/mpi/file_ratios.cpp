// SPDX-License-Identifier: BSD-3-Clause
#include "preload/mpi/file_ratios.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <mutex>

#include "preload/mpi/settings.hpp"

namespace neve::pmpi {
namespace {

struct Sums {
  uint64_t calls = 0, moved_bytes = 0;
  double max_abs_error = 0, seconds = 0;
};
std::mutex mutex;
std::map<uint64_t, Sums> sums_of_bytes;  // by the bytes of values of a call

}  // namespace

std::shared_ptr<mpi::RateSites> file_rate_sites() {
  int level = MPI_THREAD_MULTIPLE;
  if (MPI_Query_thread(&level) != MPI_SUCCESS || level == MPI_THREAD_MULTIPLE) return nullptr;
  // Files of frames are opened by all ranks.
  auto sites = mpi::RateSites::shared_with(MPI_COMM_WORLD);
  return sites.ok() ? std::move(*sites) : nullptr;
}

void count_ratio(const mpi::Reached& reached, double seconds) {
  if (reached.value_bytes == 0) return;
  const std::lock_guard lock(mutex);
  Sums& sums = sums_of_bytes[reached.value_bytes];
  ++sums.calls;
  sums.moved_bytes += reached.moved_bytes;
  sums.max_abs_error = std::max(sums.max_abs_error, reached.max_abs_error);
  sums.seconds += seconds;
}

void say_file_ratios() {
  for (const auto& [call_bytes, sums] : sums_of_bytes) {
    const uint64_t bytes = call_bytes * sums.calls;
    const double ratio =
        static_cast<double>(bytes) / static_cast<double>(std::max<uint64_t>(1, sums.moved_bytes));
    say(
        fmt::format("writes of {} bytes: {} calls, {} bytes as {}, ratio {:.2f}, largest error {:.3g}, "
                    "{:.3f} GB/s",
                    call_bytes, sums.calls, bytes, sums.moved_bytes, ratio, sums.max_abs_error,
                    static_cast<double>(bytes) / std::max(sums.seconds, 1e-9) / 1e9));
  }
}

}  // namespace neve::pmpi
