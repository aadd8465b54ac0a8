// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/workers.hpp"

#include <algorithm>
#include <atomic>
#include <exception>
#include <limits>
#include <mutex>
#include <thread>
#include <vector>

#include "mpi/agree.hpp"
#include "threads/float_environment.hpp"

namespace neve::mpi {

Status run_workers(int threads, size_t count, const std::string& phase,
                   const std::function<Status(size_t)>& work, const std::function<void(size_t)>& done) {
  std::atomic<size_t> next{0};
  std::atomic<size_t> finished{0};
  std::atomic<bool> failed{false};
  std::mutex mutex;
  size_t failed_piece = std::numeric_limits<size_t>::max();
  Status error;

  const auto loop = [&](bool is_calling_thread) {
    const FloatEnvironment environment;  // a caller that flushes denormals gets the same file
    while (!failed) {
      const size_t piece = next++;
      if (piece >= count) return;
      const Status status = guarded(phase, [&] { return work(piece); });
      const size_t total = ++finished;
      if (!status.ok()) {
        failed = true;
        const std::lock_guard lock(mutex);
        if (piece < failed_piece) {
          failed_piece = piece;
          error = status;
        }
      }
      if (is_calling_thread && done) done(total);
    }
  };

  const size_t helpers = std::min(static_cast<size_t>(std::max(threads, 1)), std::max<size_t>(count, 1)) - 1;
  std::vector<std::jthread> pool;
  try {
    pool.reserve(helpers);
    for (size_t i = 0; i < helpers; ++i) pool.emplace_back(loop, false);
  } catch (const std::exception&) {  // NOLINT: nothing to do
    // The system gives no more threads (or no memory for one): those that run do all the work.
  }
  loop(true);
  pool.clear();  // joins
  return error;
}

}  // namespace neve::mpi
