// SPDX-License-Identifier: BSD-3-Clause
#include "parallel/transfer/receive_blocks.hpp"

#include <chrono>
#include <condition_variable>
#include <exception>
#include <limits>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <unordered_map>
#include <utility>

#include "core/codecs/frame_values.hpp"
#include "parallel/transfer/failure_message.hpp"
#include "parallel/transfer/take_off.hpp"

namespace neve::mpi {
namespace {

enum class State { free, receiving, arrived, decoding };

struct Slot {
  State state = State::free;
  MPI_Request request = MPI_REQUEST_NULL;
  Bytes message;
  size_t bytes = 0;  // of the message
  size_t sender = 0, block = 0;
};

class Receiver {
 public:
  Receiver(DType dtype, std::span<const Incoming> incoming, int threads,
           const std::function<bool()>& meanwhile)
      : dtype_(dtype),
        incoming_(incoming),
        meanwhile_(meanwhile),
        next_(incoming.size()),
        slots_(static_cast<size_t>(threads) + 2) {
    for (size_t i = 0; i < incoming.size(); ++i) {
      sender_of_[incoming[i].source] = i;
      missing_ += incoming[i].plan.blocks();
    }
    for (Slot& slot : slots_) slot.message.resize(max_failure_bytes);
    if (missing_ < 2) return;  // nothing to overlap with
    try {
      for (int t = 0; t < threads; ++t) threads_.emplace_back([this] { decode_arrived(); });
    } catch (const std::exception&) {  // NOLINT: with no thread at all, the calling one decodes
    }
  }
  ~Receiver() {
    {
      const std::lock_guard lock(mutex_);
      stopped_ = true;
    }
    changed_.notify_all();
  }

  Status receive_all(MPI_Comm comm, int from, int tag, Moved& moved) {
    while (missing_ > 0 || receiving_ > 0) {
      bool moves = false;
      NEVE_TRY(look_for_arrivals(moved, moves));
      Slot* const slot = missing_ > 0 ? free_slot() : nullptr;
      if (slot != nullptr) NEVE_TRY(match(comm, from, tag, *slot, moves));
      if (moves) {
        looks_ = 0;
      } else if (slot != nullptr || receiving_ > 0) {
        rest();
      } else if (missing_ > 0) {  // all slots are being decoded
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [&] { return has_free_slot(); });
      }
    }
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] {
      for (const Slot& slot : slots_) {
        if (slot.state != State::free) return false;
      }
      return true;
    });
    return error_.status;
  }
  const Status& sent() const { return sent_.status; }

 private:
  // The first in the order of sources, then of blocks.
  struct Error {
    Status status;
    std::pair<int, size_t> place;
  };

  bool has_free_slot() const {
    for (const Slot& slot : slots_) {
      if (slot.state == State::free) return true;
    }
    return false;
  }

  Slot* free_slot() {
    const std::lock_guard lock(mutex_);
    for (Slot& slot : slots_) {
      if (slot.state == State::free) return &slot;
    }
    return nullptr;
  }

  // Between two looks at what may have come: a piece of the caller's own work; without any, at first another
  // thread's turn, then some time, so that those who encode and decode have this core as well.
  void rest() {
    constexpr int eager_looks = 100;
    constexpr std::chrono::microseconds between_looks(50);
    if (meanwhile_ && meanwhile_()) return;
    if (++looks_ < eager_looks) return std::this_thread::yield();
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, between_looks);
  }

  // Messages of one sender match in the order in which they were sent: that is which block each is.
  Status match(MPI_Comm comm, int from, int tag, Slot& slot, bool& found_one) {
    MPI_Message handle = MPI_MESSAGE_NULL;
    MPI_Status status;
    int found = 0;
    NEVE_TRY(mpi_status(MPI_Improbe(from, tag, comm, &found, &handle, &status), "MPI_Improbe"));
    if (found == 0) return {};
    found_one = true;
    int bytes = 0;
    NEVE_TRY(mpi_status(MPI_Get_count(&status, MPI_BYTE, &bytes), "MPI_Get_count"));
    slot.sender = sender_of_.at(status.MPI_SOURCE);
    slot.block = next_[slot.sender]++;
    slot.bytes = static_cast<size_t>(bytes);
    --missing_;
    const Status room = guarded("receive", [&]() -> Status {
      if (slot.message.size() < slot.bytes) slot.message.resize(slot.bytes);
      return {};
    });
    if (!room.ok()) {  // it is a frame then
      fail(error_, slot, room);
      return take_off(handle, bytes);
    }
    {
      const std::lock_guard lock(mutex_);
      slot.state = State::receiving;
    }
    ++receiving_;
    return mpi_status(MPI_Imrecv(slot.message.data(), bytes, MPI_BYTE, &handle, &slot.request), "MPI_Imrecv");
  }

  Status look_for_arrivals(Moved& moved, bool& found_one) {
    if (receiving_ == 0) return {};
    for (Slot& slot : slots_) {
      if (slot.request == MPI_REQUEST_NULL) continue;
      int done = 0;
      NEVE_TRY(mpi_status(MPI_Test(&slot.request, &done, MPI_STATUS_IGNORE), "MPI_Test"));
      if (done == 0) continue;
      found_one = true;
      --receiving_;
      arrived(slot, moved);
    }
    return {};
  }

  void arrived(Slot& slot, Moved& moved) {
    const std::span<const std::byte> message(slot.message.data(), slot.bytes);
    if (const auto failed = read_failure(message)) {
      // The sender has stopped.
      missing_ -= incoming_[slot.sender].plan.blocks() - next_[slot.sender];
      next_[slot.sender] = incoming_[slot.sender].plan.blocks();
      fail(sent_, slot, *failed);
      return set_state(slot, State::free);
    }
    moved.frame_bytes += slot.bytes;
    ++moved.blocks;
    set_state(slot, State::arrived);
    if (threads_.empty()) decode(slot);
  }

  void set_state(Slot& slot, State state) {
    {
      const std::lock_guard lock(mutex_);
      slot.state = state;
    }
    changed_.notify_all();
  }

  void fail(Error& error, const Slot& slot, const Status& status) {
    const std::lock_guard lock(mutex_);
    const std::pair place(incoming_[slot.sender].source, slot.block);
    if (!error.status.ok() && place > error.place) return;
    error = {guarded("receive", [&] { return status; }), place};
  }

  void decode(Slot& slot) {
    const Incoming& from = incoming_[slot.sender];
    bool wanted = from.out != nullptr;
    {
      const std::lock_guard lock(mutex_);
      wanted = wanted && error_.status.ok() && sent_.status.ok();
    }
    if (wanted) {
      const Status status = guarded("decode", [&] {
        return decode_values({slot.message.data(), slot.bytes}, dtype_, from.plan.values(slot.block),
                             from.out + from.plan.first(slot.block) * dtype_bytes(dtype_))
            .in("block " + std::to_string(slot.block) + " of rank " + std::to_string(from.source));
      });
      if (!status.ok()) fail(error_, slot, status);
    }
    set_state(slot, State::free);
  }

  void decode_arrived() {
    while (true) {
      Slot* mine = nullptr;
      {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [&] {
          for (Slot& slot : slots_) {
            if (slot.state == State::arrived) mine = &slot;
          }
          return stopped_ || mine != nullptr;
        });
        if (mine == nullptr) return;
        mine->state = State::decoding;
      }
      decode(*mine);
    }
  }

  DType dtype_;
  std::span<const Incoming> incoming_;
  const std::function<bool()>& meanwhile_;
  std::unordered_map<int, size_t> sender_of_;  // by rank
  std::vector<size_t> next_;                   // block that the next message of each sender is
  size_t missing_ = 0;                         // messages not matched yet
  int receiving_ = 0;                          // messages matched, not here yet
  int looks_ = 0;                              // since something moved

  std::mutex mutex_;  // of the slots' states and the error
  std::condition_variable changed_;
  std::vector<Slot> slots_;
  bool stopped_ = false;
  Error error_, sent_;
  std::vector<std::jthread> threads_;
};

}  // namespace

Received receive_blocks(MPI_Comm comm, int from, int tag, DType dtype, int threads,
                        std::span<const Incoming> incoming, Moved& moved,
                        const std::function<bool()>& meanwhile) {
  Received received;
  std::optional<Receiver> receiver;
  received.own = guarded("receive", [&]() -> Status {
    receiver.emplace(dtype, incoming, threads, meanwhile);
    return {};
  });
  const auto finish = [&] {
    while (meanwhile && meanwhile()) {
    }
  };
  if (!receiver) {
    finish();
    for (const Incoming& one : incoming) {
      Status sent;
      const Status taken = take_off_blocks(comm, one.source, tag, one.plan, sent);
      if (received.own.ok()) received.own = guarded("receive", [&] { return taken; });
      if (received.sent.ok()) received.sent = std::move(sent);
    }
    return received;
  }
  received.own = guarded("receive", [&] { return receiver->receive_all(comm, from, tag, moved); });
  received.sent = guarded("receive", [&] { return receiver->sent(); });
  finish();
  return received;
}

}  // namespace neve::mpi
