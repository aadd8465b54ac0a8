// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/blocks/ahead.hpp"

#include <system_error>

namespace neve::mpi {

Ahead::Ahead(const BlockEncoder& encoder) : encoder_(encoder) {
  if (encoder.blocks() < 2) return;
  ready_.reserve(most_ready);
  try {
    thread_ = std::jthread([this] { run(); });
  } catch (const std::system_error&) {  // NOLINT: take() then encodes
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
  for (size_t block = 0; block < encoder_.blocks(); ++block) {
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [&] { return stopped_ || ready_.size() < most_ready; });
      if (stopped_) return;
    }
    Result<Bytes> made = make(block);
    const bool failed = !made.ok();
    const std::lock_guard lock(mutex_);
    ready_.push_back(std::move(made));
    changed_.notify_all();
    if (failed) return;
  }
}

std::optional<Result<Bytes>> Ahead::take_within(std::chrono::microseconds time) {
  if (!thread_.joinable()) return make(taken_++);
  std::unique_lock lock(mutex_);
  if (!changed_.wait_for(lock, time, [&] { return !ready_.empty(); })) return {};
  std::optional<Result<Bytes>> taken = std::move(ready_.front());
  ready_.erase(ready_.begin());
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
