// SPDX-License-Identifier: BSD-3-Clause
// Threads beside the one that calls MPI.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <functional>
#include <mutex>
#include <span>
#include <thread>
#include <vector>

namespace neve::mpi {

// Numbered pieces of one kind of work, done again and again.
struct Batch {
  std::function<void(size_t)> work;  // must not throw
  size_t count = 0, begun = 0, finished = 0;
};

// Does the pieces of batches on threads of its own; those of the first batch before those of the next. Where
// there are none, for want of use or because the system gives none, start() does all of it.
class Workers {
 public:
  // `batches` outlive this.
  Workers(std::span<Batch* const> batches, int threads);
  ~Workers();
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  // The batch is idle.
  void start(Batch& batch, size_t count);
  void wait(const Batch& batch);
  // Whether anything is still being done, after at most so long.
  bool are_busy_after(std::chrono::microseconds time);

 private:
  void run();
  Batch* next_batch();
  bool are_idle() const;

  std::span<Batch* const> batches_;
  std::mutex mutex_;  // of the batches' numbers
  std::condition_variable changed_;
  bool stopped_ = false;
  std::vector<std::jthread> threads_;
};

}  // namespace neve::mpi
