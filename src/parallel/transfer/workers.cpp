// SPDX-License-Identifier: BSD-3-Clause
#include "parallel/transfer/workers.hpp"

#include <exception>

#include "core/threads/float_environment.hpp"

namespace neve::mpi {

Workers::Workers(std::span<Batch* const> batches, int threads) : batches_(batches) {
  try {
    threads_.reserve(static_cast<size_t>(threads));
    for (int t = 0; t < threads; ++t) threads_.emplace_back([this] { run(); });
  } catch (const std::exception&) {  // NOLINT: those that there are do it, or start()
  }
}

Workers::~Workers() {
  {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
  }
  changed_.notify_all();
}

void Workers::start(Batch& batch, size_t count) {
  if (threads_.empty()) {
    for (size_t i = 0; i < count; ++i) batch.work(i);
    return;
  }
  {
    const std::lock_guard lock(mutex_);
    batch.count = count;
    batch.begun = batch.finished = 0;
  }
  changed_.notify_all();
}

void Workers::wait(const Batch& batch) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return batch.finished == batch.count; });
}

bool Workers::are_busy_after(std::chrono::microseconds time) {
  std::unique_lock lock(mutex_);
  return !changed_.wait_for(lock, time, [&] { return are_idle(); });
}

bool Workers::are_idle() const {
  for (const Batch* const batch : batches_) {
    if (batch->finished < batch->count) return false;
  }
  return true;
}

Batch* Workers::next_batch() {
  for (Batch* const batch : batches_) {
    if (batch->begun < batch->count) return batch;
  }
  return nullptr;
}

void Workers::run() {
  const FloatEnvironment environment;
  std::unique_lock lock(mutex_);
  while (true) {
    Batch* batch = nullptr;
    changed_.wait(lock, [&] { return stopped_ || (batch = next_batch()) != nullptr; });
    if (stopped_) return;
    const size_t piece = batch->begun++;
    lock.unlock();
    batch->work(piece);
    lock.lock();
    ++batch->finished;
    changed_.notify_all();
  }
}

}  // namespace neve::mpi
