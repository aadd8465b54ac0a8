// SPDX-License-Identifier: BSD-3-Clause
#include "parallel/write/read_ahead.hpp"

#include <algorithm>
#include <condition_variable>
#include <exception>
#include <limits>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "core/threads/parallel_for.hpp"
#include "core/threads/scratch.hpp"
#include "parallel/comm/agree.hpp"

namespace neve::mpi {
namespace {

constexpr size_t pieces_ahead = 2;

// Pieces go round: an empty buffer is filled by the reader, worked on, and empty again.
class Pipeline {
 public:
  Pipeline(const PiecewiseWork& work, size_t buffers) : work_(work), buffers_(buffers) {
    for (size_t b = 0; b < buffers; ++b) empty_.push_back(b);
    full_.reserve(buffers);
  }

  Status run(size_t workers);

 private:
  struct Full {
    size_t piece;
    size_t buffer;
  };

  void read_all() noexcept;
  void work_all();
  Status read_piece(size_t piece, size_t buffer);
  // With the mutex held.
  void note(size_t piece, Status&& status);

  const PiecewiseWork& work_;
  std::vector<RawVector<std::byte>> buffers_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<size_t> empty_;
  std::vector<Full> full_;  // in the order of the pieces
  bool has_read_all_ = false;
  bool has_failed_ = false;
  size_t failed_piece_ = std::numeric_limits<size_t>::max();
  Status error_;
  size_t finished_ = 0;
  const std::thread::id caller_ = std::this_thread::get_id();
};

void Pipeline::note(size_t piece, Status&& status) {
  if (status.ok()) return;
  has_failed_ = true;
  if (piece >= failed_piece_) return;
  failed_piece_ = piece;
  error_ = std::move(status);
}

// A buffer takes its memory, and keeps it, when it is used first.
Status Pipeline::read_piece(size_t piece, size_t buffer) {
  return guarded("read", [&]() -> Status {
    buffers_[buffer].resize(work_.piece_bytes);
    return work_.read(piece, buffers_[buffer].data());
  });
}

void Pipeline::read_all() noexcept {
  std::unique_lock lock(mutex_);
  for (size_t piece = 0; piece < work_.pieces; ++piece) {
    changed_.wait(lock, [&] { return has_failed_ || !empty_.empty(); });
    if (has_failed_) break;
    const size_t buffer = empty_.back();
    empty_.pop_back();
    lock.unlock();
    Status read = read_piece(piece, buffer);
    lock.lock();
    if (!read.ok()) {
      note(piece, std::move(read));
      break;
    }
    full_.push_back({piece, buffer});
    changed_.notify_all();
  }
  has_read_all_ = true;
  changed_.notify_all();
}

// Pieces that were read before one could not be are still worked on: one of them may be the first to fail.
void Pipeline::work_all() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [&] { return has_read_all_ || !full_.empty(); });
    if (full_.empty() || full_.front().piece > failed_piece_) return;
    const Full next = full_.front();
    full_.erase(full_.begin());
    lock.unlock();
    Status worked =
        guarded(work_.phase, [&] { return work_.work(next.piece, buffers_[next.buffer].data()); });
    lock.lock();
    note(next.piece, std::move(worked));
    empty_.push_back(next.buffer);
    const size_t finished = ++finished_;
    changed_.notify_all();
    if (!work_.done || std::this_thread::get_id() != caller_) continue;
    lock.unlock();
    work_.done(finished);
    lock.lock();
  }
}

Status Pipeline::run(size_t workers) {
  std::jthread reader;  // joined wherever this is left
  try {
    reader = std::jthread([this] { read_all(); });
  } catch (const std::exception&) {
    for (size_t piece = 0; piece < work_.pieces; ++piece) {
      NEVE_TRY(read_piece(piece, 0));
      NEVE_TRY(guarded(work_.phase, [&] { return work_.work(piece, buffers_[0].data()); }));
      if (work_.done) work_.done(piece + 1);
    }
    return {};
  }
  Status worked = guarded(work_.phase, [&]() -> Status {
    parallel_for(workers, static_cast<int>(workers), [&](size_t) { work_all(); });
    return {};
  });
  if (!worked.ok()) {  // no memory to begin: the reader must not wait for buffers
    const std::lock_guard lock(mutex_);
    note(0, std::move(worked));
    changed_.notify_all();
  }
  reader.join();
  return std::move(error_);
}

}  // namespace

Status run_reading_ahead(const PiecewiseWork& work) {
  if (work.pieces == 0) return {};
  const size_t workers = std::min(static_cast<size_t>(std::max(work.threads, 1)), work.pieces);
  Pipeline pipeline(work, std::min(workers + pieces_ahead, work.pieces));
  return pipeline.run(workers);
}

}  // namespace neve::mpi
