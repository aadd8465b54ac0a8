// SPDX-License-Identifier: BSD-3-Clause
#include "parallel/write/writes_behind.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <limits>
#include <utility>

#include "core/threads/without_signals.hpp"

namespace neve::mpi {
namespace {

using Stage = FileBehind::Stage;

// A file's error as a word, of which the least is that of the earliest file, and then of the lowest rank.
// Behind the number it is as agreement_key has it.
constexpr int rank_and_code_bits = 32;
uint64_t key_of(const Comm& comm, const FileBehind& file) {
  return (file.number << rank_and_code_bits) | agreement_key(comm, file.error);
}

// How long rank 0's thread waits before it looks again at what the others have marked.
constexpr std::chrono::milliseconds shortest_pause{1}, longest_pause{64};

// How long it does so where the ranks cannot meet any more.
constexpr std::chrono::seconds longest_wait_for_marks{10};

// Where no call is left that could return it.
void say_at_the_end(const std::string& message) { std::fprintf(stderr, "neve: %s\n", message.c_str()); }
void say_at_the_end(const std::string& path, const char* why) {
  say_at_the_end(FileBehind::lost(path, failure(why)).message());
}

}  // namespace

Status both(const Status& first, const Status& second) {
  if (first.ok()) return second;
  if (second.ok()) return first;
  return {first.code(), first.message() + "; " + second.message()};
}

WritesBehind* WritesBehind::of(KeptComm& kept) { return static_cast<WritesBehind*>(kept.lasting().get()); }

Result<WritesBehind*> WritesBehind::make(KeptComm& kept) {
  if (kept.lasting() == nullptr) {
    std::shared_ptr<WritesBehind> made(new WritesBehind(kept.comm().rank()));
    made->start();
    kept.lasting() = std::move(made);
  }
  return of(kept);
}

void WritesBehind::start() {
  const WithoutSignals of_thread;
  thread_ = std::thread([this] { work(); });
}

WritesBehind::~WritesBehind() {
  {
    const Lock lock(mutex_);
    ends_at_ = Clock::now() + longest_wait_for_marks;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
  if (copied_ != nullptr) {
    copied_->wait();
    say_at_the_end(copied_->path(), "the ranks could not meet any more");
  }
  for (const FileBehind& file : files_) {
    if (file.stage == Stage::failed && !file.is_told_of) say_at_the_end(file.error.message());
    if (file.is_held && file.stage == Stage::put)
      say_at_the_end(file.path(), "not all ranks have written their part");
  }
}

void WritesBehind::add(std::unique_ptr<CopiedWrite> copied) noexcept {
  has_any_ = true;
  copied_ = std::move(copied);
}

Status WritesBehind::place_copied() {
  if (copied_ == nullptr) return {};
  const std::unique_ptr<CopiedWrite> next = std::move(copied_);
  next->wait();
  return FileBehind::lost(next->path(), next->place());
}

void WritesBehind::add(One&& one) noexcept {
  has_any_ = true;
  {
    const Lock lock(mutex_);
    one.front().number = added_++;
    one.front().is_held = rank_ == 0;
    files_.splice(files_.end(), one);
  }
  changed_.notify_all();
}

FileBehind* WritesBehind::next_to_put() noexcept {
  const auto next = std::ranges::find(files_, Stage::waiting, &FileBehind::stage);
  return next == files_.end() ? nullptr : &*next;
}

// Rank 0: the earliest file that this rank is done with and waits for the others' parts; also where its own
// has failed, since they may be writing still.
FileBehind* WritesBehind::next_to_publish() noexcept {
  const auto next = std::ranges::find_if(
      files_, [](const FileBehind& file) { return file.is_held && file.stage != Stage::waiting; });
  return next == files_.end() ? nullptr : &*next;
}

// Rank 0. Whether there was one whose fate is known.
bool WritesBehind::publish_next(Lock& lock) noexcept {
  FileBehind* const next = next_to_publish();
  if (next == nullptr) return false;
  const bool is_whole = next->number < put_by_all_, is_lost = next->is_told_of;
  lock.unlock();
  files::Mark mark = files::Mark::failed;
  if (!is_lost) mark = is_whole ? files::Mark::done : next->common_mark();
  Status published;
  if (mark == files::Mark::done) published = next->publish();
  if (mark == files::Mark::failed) next->drop();
  lock.lock();
  if (mark == files::Mark::none) return false;
  next->is_held = false;
  if (!published.ok()) {
    next->stage = Stage::failed;
    next->error = std::move(published);
  }
  return true;
}

void WritesBehind::work() noexcept {
  std::chrono::milliseconds pause = shortest_pause;
  Lock lock(mutex_);
  for (;;) {
    if (publish_next(lock)) {
      changed_.notify_all();
    } else if (FileBehind* const next = next_to_put(); next != nullptr) {
      lock.unlock();
      Status put = next->put();
      lock.lock();
      next->stage = put.ok() ? Stage::put : Stage::failed;
      next->error = std::move(put);
      ++puts_;
      pause = shortest_pause;
      changed_.notify_all();
    } else if (ends_at_ && (next_to_publish() == nullptr || Clock::now() > *ends_at_)) {
      return;
    } else if (next_to_publish() != nullptr) {
      changed_.wait_for(lock, pause);
      pause = std::min(2 * pause, longest_pause);
    } else {
      changed_.wait(lock);
    }
  }
}

void WritesBehind::wait_for_room() noexcept {
  Lock lock(mutex_);
  changed_.wait(lock, [&] {
    const auto of_memory = [](const FileBehind& file) {
      return file.stage == Stage::waiting && file.holds_frames();
    };
    return std::ranges::count_if(files_, of_memory) <= 1 &&
           std::ranges::count(files_, Stage::waiting, &FileBehind::stage) < most_under_way;
  });
}

bool WritesBehind::enter_stage(uint64_t bytes, uint64_t most) noexcept {
  uint64_t before = staged_bytes_;
  do {
    if (bytes > most || before > most - bytes) return false;
  } while (!staged_bytes_.compare_exchange_weak(before, before + bytes));
  return true;
}

bool WritesBehind::wait_for_put(uint64_t before) noexcept {
  Lock lock(mutex_);
  changed_.wait(lock, [&] { return puts_ != before || next_to_put() == nullptr; });
  return puts_ != before;
}

void WritesBehind::wait_until_put() noexcept {
  Lock lock(mutex_);
  changed_.wait(lock, [&] { return next_to_put() == nullptr; });
}

void WritesBehind::wait_until_published() noexcept {
  if (rank_ != 0) return;
  Lock lock(mutex_);
  changed_.wait(lock, [&] {
    return std::ranges::none_of(files_, [&](const FileBehind& file) {
      return file.is_held && file.stage != Stage::waiting && (file.number < put_by_all_ || file.is_told_of);
    });
  });
}

void WritesBehind::put(const Comm& comm, std::span<uint64_t> minima) const noexcept {
  const Lock lock(mutex_);
  uint64_t finished = added_, failure = std::numeric_limits<uint64_t>::max();
  for (const FileBehind& file : files_) {
    const bool has_failed = file.stage == Stage::failed && !file.is_told_of;
    if (has_failed) failure = std::min(failure, key_of(comm, file));
    if (has_failed || file.stage == Stage::waiting) finished = std::min(finished, file.number);
  }
  minima[0] = finished;
  minima[1] = failure;
}

Status WritesBehind::take(const Comm& comm, std::span<const uint64_t> minima) {
  Status mine, told;
  const bool has_failed = minima[1] != std::numeric_limits<uint64_t>::max();
  if (has_failed) {
    const uint64_t number = minima[1] >> rank_and_code_bits;
    const uint64_t key = minima[1] & ((uint64_t{1} << rank_and_code_bits) - 1);
    {
      const Lock lock(mutex_);
      const auto lost = std::ranges::find(files_, number, &FileBehind::number);
      if (lost != files_.end()) {
        lost->is_told_of = true;
        mine = std::move(lost->error);
      }
    }
    told = lowest_failure(comm, key, mine);
  }
  {
    const Lock lock(mutex_);
    put_by_all_ = std::max(put_by_all_, minima[0]);
    std::erase_if(files_, [&](const FileBehind& file) {
      const bool is_untold = file.stage == Stage::failed && !file.is_told_of;
      return file.number < put_by_all_ && file.stage != Stage::waiting && !file.is_held && !is_untold;
    });
  }
  changed_.notify_all();
  return told;
}

Status WritesBehind::meet(const Comm& comm) {
  for (Status first;;) {
    put(comm, settling_.minima());
    NEVE_TRY(settling_.run(comm, {}));
    const Status told = take(comm, settling_.minima());
    if (told.ok()) return first;
    first = both(first, told);
  }
}

Status WritesBehind::settle(const Comm& comm) {
  Status first = place_copied();
  wait_until_put();
  first = both(first, meet(comm));
  wait_until_published();
  return both(first, meet(comm));
}

void WritesBehind::finish(const Comm& comm) noexcept {
  const Status settled = guarded("write behind", [&] { return settle(comm); });
  if (!settled.ok() && rank_ == 0) say_at_the_end(settled.message());
}

}  // namespace neve::mpi
