// SPDX-License-Identifier: BSD-3-Clause
// The files of a communicator that are still on their way when the calls that wrote them have returned, and
// the thread of this rank that brings them there. The thread calls neither MPI nor HDF5. All ranks add the
// same files in the same order.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <thread>

#include "parallel/comm/exchange.hpp"
#include "parallel/comm/kept_comm.hpp"
#include "parallel/write/copied_write.hpp"
#include "parallel/write/file_behind.hpp"

namespace neve::mpi {

// What has become of two writes, with both messages where both have failed.
Status both(const Status& first, const Status& second);

class WritesBehind : public Lasting {
 public:
  // Those of the communicator; null where there were none so far.
  static WritesBehind* of(KeptComm& kept);
  // Not collective, but to be called on all ranks. The same, made where there are none, with the thread.
  static Result<WritesBehind*> make(KeptComm& kept);
  ~WritesBehind() override;

  // A list of one, so that nothing has to be allocated when it is added.
  using One = std::list<FileBehind>;
  // Not collective; the one of `one`, sealed, to be put from now on.
  void add(One&& one) noexcept;

  // Not collective. The one that has been copied, which has been started. There is none yet.
  void add(std::unique_ptr<CopiedWrite> copied) noexcept;
  // Collective where there is one that has been copied; then there is none any more. To be called first of
  // all in every call. The error of that write.
  Status place_copied();

  // Not collective, and none waits for another rank for ever: the threads do not wait for calls of MPI.
  // Until no more than one file is held in memory, and fewer than most_under_way are to be put.
  void wait_for_room() noexcept;
  static constexpr int most_under_way = 64;
  // Until this rank has put its part of all files.
  void wait_until_put() noexcept;
  // Rank 0: until those that all ranks have put, as far as it has been told by take(), have their names. The
  // other ranks have nothing to wait for.
  void wait_until_published() noexcept;

  // The stage, in any thread. As many bytes more are on it, unless that made it more than `most`; and less.
  bool enter_stage(uint64_t bytes, uint64_t most) noexcept;
  void leave_stage(uint64_t bytes) noexcept { staged_bytes_ -= bytes; }
  // How many files this rank's thread is done with.
  uint64_t puts() const noexcept { return puts_; }
  // Until those are more than `before`; false where there is none to come.
  bool wait_for_put(uint64_t before) noexcept;
  // The folder that has served as a stage last. The calling thread's, in a call.
  std::string& stage_that_served() { return stage_that_served_; }

  // What an exchange of all ranks carries of it, and what each rank makes of it.
  static constexpr size_t minima = 2;
  void put(const Comm& comm, std::span<uint64_t> minima) const noexcept;
  // Collective where a file has failed; the same on all ranks. The error of the earliest file of which some
  // rank has one that has not been told yet.
  Status take(const Comm& comm, std::span<const uint64_t> minima);

  // Whether one has been added, ever: the same on all ranks, of which only some may have this at all after an
  // error. Without any nothing is collective.
  bool has_any() const { return has_any_; }
  // Collective: exchanges of nothing else. Errors that have not been told yet.
  Status meet(const Comm& comm);
  // Collective. All files have their names when it returns, or are dropped. Errors that no call has told of.
  Status settle(const Comm& comm);

  // Of Lasting: the same, with nobody left to tell errors but standard error.
  bool has_work() const noexcept override { return has_any_; }
  void finish(const Comm& comm) noexcept override;

 private:
  using Files = std::list<FileBehind>;
  using Lock = std::unique_lock<std::mutex>;
  using Clock = std::chrono::steady_clock;

  explicit WritesBehind(int rank) : rank_(rank), settling_(minima, 0) {}
  void start();
  void work() noexcept;
  FileBehind* next_to_put() noexcept;
  bool publish_next(Lock& lock) noexcept;
  FileBehind* next_to_publish() noexcept;

  const int rank_;
  std::atomic<uint64_t> staged_bytes_ = 0, puts_ = 0;
  std::string stage_that_served_;
  mutable std::mutex mutex_;  // of all below
  std::condition_variable changed_;
  Files files_;              // until all ranks have put them
  uint64_t added_ = 0;       // the next file's number
  uint64_t put_by_all_ = 0;  // files below this number, which is what the ranks have told each other
  std::optional<Clock::time_point> ends_at_;  // set: the thread is to end, at that time at the latest
  std::thread thread_;
  // The main thread's.
  std::unique_ptr<CopiedWrite> copied_;
  bool has_any_ = false;
  Exchange settling_;
};

// A write, and copies of its arguments for as long as it takes. Write has copy() (collective: the first
// exchange, then the values are the caller's again), encode_copies() (not collective; no MPI and no HDF5),
// place_copies() (collective: the second exchange), outcome() and fail(). Arguments have `path` and
// `options`.
template <class Write, class Arguments>
class CopiedOf : public CopiedWrite {
 public:
  CopiedOf(KeptComm& kept, Arguments arguments)
      : kept_(kept.shared_from_this()), arguments_(std::move(arguments)), write_(kept, given_, arguments_) {}
  ~CopiedOf() override { wait(); }

  // Collective. A WriteOutcome.
  static auto run(KeptComm& kept, std::unique_ptr<CopiedOf> copied) {
    Write& write = copied->write_;
    const Status own = write.copy();
    auto outcome = write.outcome(own);
    if (!own.ok()) return outcome;
    copied->arguments_.options.progress = {};  // which is for the calling thread, in the call
    // (From here on the write is the thread's, where there is one.)
    if (const Status started = copied->start(); !started.ok()) write.fail(started);
    WritesBehind::of(kept)->add(std::move(copied));
    return outcome;
  }

  const std::string& path() const override { return arguments_.path; }
  Status place() override { return write_.place_copies(); }

 private:
  void encode() noexcept override { write_.encode_copies(); }

  const std::shared_ptr<KeptComm> kept_;
  const Status given_;  // ok
  Arguments arguments_;
  Write write_;
};

}  // namespace neve::mpi
