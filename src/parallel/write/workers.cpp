// SPDX-License-Identifier: BSD-3-Clause
#include "parallel/write/workers.hpp"

#include <atomic>
#include <limits>
#include <mutex>
#include <thread>

#include "core/threads/parallel_for.hpp"
#include "parallel/comm/agree.hpp"

namespace neve::mpi {

Status run_workers(int threads, size_t count, const std::string& phase,
                   const std::function<Status(size_t)>& work, const std::function<void(size_t)>& done) {
  std::atomic<size_t> finished{0};
  std::atomic<bool> failed{false};
  std::mutex mutex;
  size_t failed_piece = std::numeric_limits<size_t>::max();
  Status error;

  const std::thread::id caller = std::this_thread::get_id();
  parallel_for(count, threads, [&](size_t piece) {
    if (failed) return;
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
    if (done && std::this_thread::get_id() == caller) done(total);
  });
  return error;
}

}  // namespace neve::mpi
