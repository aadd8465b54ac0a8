// SPDX-License-Identifier: BSD-3-Clause
// Jobs one after another: made and finished by one thread in order (HDF5 is not thread-safe), worked on by
// several.
#pragma once

#include <condition_variable>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "core/status/guarded.hpp"
#include "core/threads/float_environment.hpp"
#include "neve/status.hpp"

namespace neve::datafile {

// `next` makes the next job, or nothing at the end; `work` runs on any of `threads` threads; `finish` gets
// the jobs back in the order in which they were made. At most two jobs a thread are held at any time. Stops
// at the first error, which it returns.
template <class Job>
class OrderedWork {
 public:
  using Next = std::function<Result<std::optional<Job>>()>;
  using Work = std::function<Status(Job&)>;
  using Finish = std::function<Status(Job&)>;

  OrderedWork(int threads, Work work) : work_(std::move(work)), window_(2 * static_cast<size_t>(threads)) {
    try {
      for (int t = 1; t < threads; ++t) {
        helpers_.emplace_back([this](const std::stop_token& stop) { help(stop); });
      }
    } catch (const std::exception&) {  // NOLINT: the system gives no more; those there are do all the work
    }
  }

  Status run(const Next& next, const Finish& finish) {
    bool is_end = false;
    while (true) {
      if (!is_end && jobs_.size() < window_) {
        NEVE_ASSIGN(std::optional<Job> job, next());
        if (job) {
          jobs_.push_back(std::make_shared<Slot>(std::move(*job)));
          if (helpers_.empty()) continue;
          const std::lock_guard lock(mutex_);
          waiting_.push_back(jobs_.back());
          changed_.notify_one();
          continue;
        }
        is_end = true;
      }
      if (jobs_.empty()) return {};
      const std::shared_ptr<Slot> oldest = jobs_.front();
      jobs_.pop_front();
      wait_for(*oldest);
      NEVE_TRY(oldest->status);
      NEVE_TRY(finish(oldest->job));
    }
  }

 private:
  struct Slot {
    explicit Slot(Job j) : job(std::move(j)) {}
    Job job;
    Status status;
    bool is_done = false;
  };

  void do_one(Slot& slot) {
    const FloatEnvironment environment;
    slot.status = guarded("", [&] { return work_(slot.job); });
  }

  std::shared_ptr<Slot> take() {
    if (waiting_.empty()) return nullptr;
    std::shared_ptr<Slot> slot = waiting_.front();
    waiting_.pop_front();
    return slot;
  }

  // The thread that waits works as well.
  void wait_for(Slot& slot) {
    if (helpers_.empty()) return do_one(slot);
    std::unique_lock lock(mutex_);
    while (!slot.is_done) {
      if (const std::shared_ptr<Slot> other = take()) {
        lock.unlock();
        do_one(*other);
        lock.lock();
        other->is_done = true;
      } else {
        done_.wait(lock, [&] { return slot.is_done || !waiting_.empty(); });
      }
    }
  }

  void help(const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    while (changed_.wait(lock, stop, [&] { return !waiting_.empty(); })) {
      const std::shared_ptr<Slot> slot = take();
      lock.unlock();
      do_one(*slot);
      lock.lock();
      slot->is_done = true;
      done_.notify_all();
    }
  }

  Work work_;
  size_t window_;
  std::deque<std::shared_ptr<Slot>> jobs_;  // in order; of the main thread alone
  std::mutex mutex_;
  std::condition_variable_any changed_, done_;
  std::deque<std::shared_ptr<Slot>> waiting_;
  std::vector<std::jthread> helpers_;  // last: they end before what they use
};

}  // namespace neve::datafile
