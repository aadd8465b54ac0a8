// SPDX-License-Identifier: BSD-3-Clause
#include "parallel/transfer/ahead.hpp"

#include <algorithm>
#include <exception>

namespace neve::mpi {

Ahead::Ahead(const BlockSource& encoder) : encoder_(encoder) {
  if (encoder.blocks() < 2) return;
  const size_t threads = std::min(static_cast<size_t>(encoder.threads()), encoder.blocks());
  ready_.resize(threads + 1);
  threads_.reserve(threads);
  try {
    while (threads_.size() < threads) threads_.emplace_back([this] { run(); });
  } catch (const std::exception&) {  // NOLINT: no thread, or no memory for one. Without any, take() encodes
  }
}

Ahead::~Ahead() {
  const std::lock_guard lock(mutex_);
  stopped_ = true;
  changed_.notify_all();
}

Result<Bytes> Ahead::make(size_t block) const {
  Result<Bytes> made = Status();
  const Status status = guarded("encode", [&]() -> Status {
    made = encoder_.encode(block);
    return made.status();
  });
  return status.ok() ? std::move(made) : Result<Bytes>(status);
}

void Ahead::run() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock,
                  [&] { return stopped_ || begun_ == encoder_.blocks() || begun_ < taken_ + ready_.size(); });
    if (stopped_ || begun_ == encoder_.blocks()) return;
    const size_t block = begun_++;
    lock.unlock();
    Result<Bytes> made = make(block);
    lock.lock();
    if (!made.ok()) stopped_ = true;
    ready_[block % ready_.size()] = std::move(made);
    changed_.notify_all();
  }
}

std::optional<Result<Bytes>> Ahead::take_within(std::chrono::microseconds time) {
  if (threads_.empty()) return make(taken_++);
  std::unique_lock lock(mutex_);
  std::optional<Result<Bytes>>& place = ready_[taken_ % ready_.size()];
  if (!changed_.wait_for(lock, time, [&] { return place.has_value(); })) return {};
  std::optional<Result<Bytes>> taken = std::exchange(place, std::nullopt);
  ++taken_;
  changed_.notify_all();
  return taken;
}

Result<Bytes> Ahead::take() {
  while (true) {
    if (auto taken = take_within(std::chrono::hours(1))) return std::move(*taken);
  }
}

}  // namespace neve::mpi
