// SPDX-License-Identifier: BSD-3-Clause
#include "parallel/file/load_ahead.hpp"

#include <algorithm>
#include <exception>
#include <utility>

#include "parallel/comm/agree.hpp"

namespace neve::mpi {

LoadAhead::LoadAhead(const LoadBytes& load, std::vector<std::span<Piece>> calls)
    : load_(load), calls_(std::move(calls)) {
  if (calls_.size() < 2) return;  // nothing to overlap with
  try {
    thread_ = std::jthread([this] { run(); });
  } catch (const std::exception&) {  // NOLINT: no thread, or no memory for one: next() loads
  }
}

LoadAhead::~LoadAhead() {
  const std::lock_guard lock(mutex_);
  stopped_ = true;
  changed_.notify_all();
}

Status LoadAhead::load_call(size_t call) {
  return guarded("write", [&]() -> Status {
    std::vector<std::byte>& buffer = buffers_[call % 2];
    size_t bytes = 0;
    for (const Piece& piece : calls_[call]) bytes += piece.rows.bytes();
    buffer.resize(std::max(buffer.size(), bytes));
    size_t at = 0;
    for (Piece& piece : calls_[call]) {
      const std::span<std::byte> out = std::span(buffer).subspan(at, piece.rows.bytes());
      NEVE_TRY(load_(piece.address, out));
      piece.rows.first = out.data();
      at += out.size();
    }
    return {};
  });
}

void LoadAhead::run() noexcept {
  std::unique_lock lock(mutex_);
  while (loaded_ < calls_.size()) {
    changed_.wait(lock, [&] { return stopped_ || loaded_ < released_ + 2; });
    if (stopped_) return;
    const size_t call = loaded_;
    lock.unlock();
    Status loaded = load_call(call);
    lock.lock();
    if (!loaded.ok()) {
      error_ = std::move(loaded);
      changed_.notify_all();
      return;
    }
    ++loaded_;
    changed_.notify_all();
  }
}

Status LoadAhead::next() {
  std::unique_lock lock(mutex_);
  released_ = taken_;
  const size_t call = taken_++;
  if (!thread_.joinable()) {
    return load_call(call);
  }
  changed_.notify_all();
  changed_.wait(lock, [&] { return loaded_ > call || !error_.ok(); });
  return loaded_ > call ? Status() : std::move(error_);
}

}  // namespace neve::mpi
