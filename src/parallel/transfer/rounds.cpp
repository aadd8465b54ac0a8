// SPDX-License-Identifier: BSD-3-Clause
#include "parallel/transfer/rounds.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <thread>
#include <utility>

#include "core/codecs/frame_values.hpp"
#include "parallel/comm/fault.hpp"
#include "parallel/transfer/own_copy.hpp"
#include "parallel/transfer/workers.hpp"

namespace neve::mpi {
namespace {

// A call as its ends know it.
struct Plans {
  std::vector<BlockPlan> out, in;
  size_t rounds = 0;
};

// Of the parts that go out and come in, that which is this rank's own, where it is copied: also in an
// allgather of a rank alone, which nobody has to agree with.
std::optional<std::pair<size_t, size_t>> own_parts(const Comm& comm, const RoundsCall& call) {
  const auto rank = static_cast<size_t>(comm.rank());
  const bool is_alone = comm.size() == 1 && call.pattern == Pattern::allgather;
  if (call.pattern == Pattern::alltoall || is_alone) return std::pair(rank, rank);
  if (call.pattern == Pattern::scatter && comm.rank() == call.root) return std::pair(rank, size_t{0});
  return {};
}

OwnCopy own_copy(const Comm& comm, const RoundsCall& call) {
  const auto own = own_parts(comm, call);
  if (!own) return {};
  const OutPart& from = call.out[own->first];
  return {from.data, call.in[own->second].data, from.count * dtype_bytes(call.transfer.dtype)};
}

int source_of(const RoundsCall& call, size_t part) {
  const bool is_of_root = call.pattern == Pattern::bcast || call.pattern == Pattern::scatter;
  return is_of_root ? call.root : static_cast<int>(part);
}

struct Words {
  std::vector<uint64_t> out, in;  // two for each part
};

Status plan_own(const Comm& comm, const RoundsCall& call, Plans& plans, Words& words) {
  NEVE_TRY(injected_fault(Phase::plan, comm.rank()));
  NEVE_TRY(injected_fault(Phase::range, comm.rank()));
  for (const OutPart& part : call.out) {
    NEVE_ASSIGN(const BlockPlan plan, plan_blocks(part.count, dtype_bytes(call.transfer.dtype),
                                                  call.transfer.block_bytes, call.transfer.layer_shape));
    plans.out.push_back(plan);
    words.out.push_back(plan.count);
    words.out.push_back(plan.block_values);
  }
  plans.in.resize(call.in.size());
  words.in.resize(2 * call.in.size());
  return {};
}

Status check_plans(const Comm& comm, const RoundsCall& call, const Words& words, Plans& plans) {
  for (size_t part = 0; part < plans.in.size(); ++part) {
    plans.in[part] = {words.in[2 * part], words.in[2 * part + 1]};
    if (plans.in[part].count == call.in[part].count) continue;
    return usage_error(fmt::format("rank {} sends {} values, and rank {} expects {}", source_of(call, part),
                                   plans.in[part].count, comm.rank(), call.in[part].count));
  }
  // Own parts do not move.
  if (const auto own = own_parts(comm, call)) plans.out[own->first].count = plans.in[own->second].count = 0;
  if (comm.size() == 1 && call.pattern == Pattern::bcast) plans.out[0].count = 0;
  for (const auto* const side : {&plans.out, &plans.in}) {
    for (const BlockPlan& plan : *side) plans.rounds = std::max(plans.rounds, plan.blocks());
  }
  return {};
}

// Collective.
Result<Plans> exchange_plans(const Comm& comm, const RoundsCall& call) {
  Plans plans;
  Words words;
  NEVE_TRY(agree(comm, guarded("plan", [&] { return plan_own(comm, call, plans, words); })));
  NEVE_TRY(exchange_words(call.pattern, comm, call.root, words.out.data(), words.in.data(), 2));
  NEVE_TRY(agree(comm, guarded("plan", [&] { return check_plans(comm, call, words, plans); })));
  uint64_t rounds = plans.rounds;
  NEVE_TRY(mpi_status(MPI_Allreduce(MPI_IN_PLACE, &rounds, 1, MPI_UINT64_T, MPI_MAX, comm.get()),
                      "number of rounds"));
  plans.rounds = static_cast<size_t>(rounds);
  return plans;
}

// Room for a block of every part. Memory that no frame comes to is not touched.
class Room {
 public:
  Status make(const std::vector<BlockPlan>& plans, size_t value_bytes) {
    uint64_t units = 0;
    for (const BlockPlan& plan : plans) {
      // An incompressible frame takes little more than its values.
      const uint64_t bytes = plan.count == 0 ? 0 : plan.values(0) * value_bytes;
      const uint64_t own = bytes == 0 ? 0 : units_of(bytes + bytes / 8 + 4096);
      if (units > static_cast<uint64_t>(std::numeric_limits<int>::max())) {
        return failure("the blocks of one round are more than MPI moves in one call; use smaller blocks");
      }
      messages_.places.push_back(static_cast<int>(units));
      room_.push_back(own * unit_bytes);
      units += own;
    }
    messages_.units.resize(plans.size());
    memory_.reset(new (std::nothrow) std::byte[units * unit_bytes + 1]);
    messages_.data = memory_.get();
    if (memory_ != nullptr) return {};
    return failure(fmt::format("no memory for {} bytes of blocks", units * unit_bytes));
  }

  Messages& messages() { return messages_; }
  std::byte* at(size_t part) {
    return messages_.data + static_cast<uint64_t>(messages_.places[part]) * unit_bytes;
  }
  uint64_t room(size_t part) const { return room_[part]; }

 private:
  Messages messages_;
  std::vector<uint64_t> room_;  // bytes of each part
  std::unique_ptr<std::byte[]> memory_;
};

// One side of two rounds: one moves, the other is worked on.
struct Side {
  std::array<Room, 2> rooms;
  std::array<std::vector<uint64_t>, 2> bytes;  // of the frame of each part; 0: none

  Status make(const std::vector<BlockPlan>& plans, size_t value_bytes) {
    for (size_t turn = 0; turn < 2; ++turn) {
      NEVE_TRY(rooms[turn].make(plans, value_bytes));
      bytes[turn].resize(plans.size());
    }
    return {};
  }
  // The messages of a round, as long as its frames are.
  const Messages& messages(size_t turn) {
    Messages& of_turn = rooms[turn].messages();
    for (size_t part = 0; part < of_turn.units.size(); ++part) {
      of_turn.units[part] = static_cast<int>(units_of(bytes[turn][part]));
    }
    return of_turn;
  }
};

class Rounds {
 public:
  Rounds(const Comm& comm, const RoundsCall& call, const Plans& plans)
      : comm_(comm), call_(call), plans_(plans), own_copy_(own_copy(comm, call)) {}
  Rounds(const Rounds&) = delete;
  ~Rounds() {
    workers_.reset();
    if (unit_ != MPI_DATATYPE_NULL) MPI_Type_free(&unit_);
  }

  // All that may fail on one rank alone.
  Status prepare(const std::optional<ArrayMeasure>& whole) {
    const size_t value_bytes = dtype_bytes(call_.transfer.dtype);
    for (size_t part = 0; part < call_.out.size(); ++part) {
      encoders_.emplace_back(call_.transfer, plans_.out[part], call_.out[part].data, whole, comm_.rank());
      if (call_.out.size() == 1) encoders_.back().use_threads(call_.transfer.values.encode.threads);
    }
    NEVE_TRY(out_.make(plans_.out, value_bytes));
    NEVE_TRY(in_.make(plans_.in, value_bytes));
    encoding_.work = [this](size_t part) { encode(part); };
    decoding_.work = [this](size_t part) { decode(part); };
    NEVE_TRY(mpi_status(MPI_Type_contiguous(unit_bytes, MPI_BYTE, &unit_), "MPI_Type_contiguous"));
    NEVE_TRY(mpi_status(MPI_Type_commit(&unit_), "MPI_Type_commit"));
    const int threads = call_.transfer.values.encode.threads;
    const bool has_several = plans_.rounds > 1 || (threads > 1 && call_.out.size() + call_.in.size() > 2);
    workers_.emplace(std::span<Batch* const>(batches_), has_several ? threads : 0);
    return {};
  }

  // Every round is made to its end, whatever fails on this rank. An error is one of MPI's.
  Status run() {
    begin_encoding(0);
    for (size_t round = 0; round < plans_.rounds; ++round) {
      const size_t turn = round % 2;
      workers_->wait(encoding_);
      begin_encoding(round + 1);
      NEVE_TRY(exchange_words(call_.pattern, comm_, call_.root, out_.bytes[turn].data(),
                              in_.bytes[turn].data(), 1));
      NEVE_TRY(move(turn));
      workers_->wait(decoding_);
      decoded_round_ = round;
      workers_->start(decoding_, call_.in.size());
    }
    own_copy_.copy_rest();
    workers_->wait(decoding_);
    return {};
  }

  // After run().
  const Status& own() const { return own_; }
  const Moved& sent() const { return sent_; }
  const Moved& received() const { return received_; }

 private:
  void begin_encoding(size_t round) {
    if (round >= plans_.rounds) return;
    encoded_round_ = round;
    workers_->start(encoding_, call_.out.size());
  }

  Status move(size_t turn) {
    MPI_Request request = MPI_REQUEST_NULL;
    NEVE_TRY(begin_move(call_.pattern, comm_, call_.root, out_.messages(turn), in_.messages(turn), unit_,
                        &request));
    int done = 0;
    for (int looks = 0;; ++looks) {
      NEVE_TRY(mpi_status(MPI_Test(&request, &done, MPI_STATUS_IGNORE), "moving blocks"));
      if (done != 0) return {};
      rest(looks);
    }
  }

  // Between two looks: a piece of this rank's own part; then at first another thread's turn, then some time,
  // so that those who encode and decode, here and on the other ranks, have this core as well.
  void rest(int looks) {
    constexpr int eager_looks = 100;
    constexpr std::chrono::microseconds between_looks(50);
    if (own_copy_.copy_some()) return;
    if (looks < eager_looks) return std::this_thread::yield();
    if (!workers_->are_busy_after(between_looks)) std::this_thread::sleep_for(between_looks);
  }

  void encode(size_t part) {
    const size_t turn = encoded_round_ % 2;
    uint64_t& bytes = out_.bytes[turn][part];
    bytes = 0;
    if (encoded_round_ >= plans_.out[part].blocks() || !is_well()) return;
    record(guarded("encode", [&]() -> Status {
      NEVE_ASSIGN(const Bytes frame, encoders_[part].encode(encoded_round_));
      if (frame.size() > out_.rooms[turn].room(part)) {
        return failure(fmt::format("a frame has {} bytes, and there is room for {}", frame.size(),
                                   out_.rooms[turn].room(part)));
      }
      NEVE_TRY(injected_fault(Phase::send, comm_.rank()));
      NEVE_ASSIGN(const double error, encoders_[part].tells_errors() ? largest_error(frame) : 0.0);
      std::memcpy(out_.rooms[turn].at(part), frame.data(), frame.size());
      bytes = frame.size();
      const std::lock_guard lock(mutex_);
      sent_.max_abs_error = std::max(sent_.max_abs_error, error);
      sent_.frame_bytes += bytes;
      ++sent_.blocks;
      return {};
    }));
  }

  // A sender that has no frame for a block has failed, and says so in the end.
  void decode(size_t part) {
    const size_t turn = decoded_round_ % 2, block = decoded_round_;
    const uint64_t bytes = in_.bytes[turn][part];
    if (bytes == 0) return;
    const BlockPlan& plan = plans_.in[part];
    const size_t value_bytes = dtype_bytes(call_.transfer.dtype);
    const int threads = call_.in.size() == 1 ? call_.transfer.values.encode.threads : 1;
    auto* const out = static_cast<std::byte*>(call_.in[part].data) + plan.first(block) * value_bytes;
    record(guarded("decode", [&] {
      return decode_values({in_.rooms[turn].at(part), bytes}, call_.transfer.dtype, plan.values(block), out,
                           threads)
          .in(fmt::format("block {} of rank {}", block, source_of(call_, part)));
    }));
    if (source_of(call_, part) == comm_.rank()) return;  // its own, which it counts as sent
    const std::lock_guard lock(mutex_);
    received_.frame_bytes += bytes;
    ++received_.blocks;
  }

  bool is_well() {
    const std::lock_guard lock(mutex_);
    return own_.ok();
  }
  void record(const Status& status) {
    if (status.ok()) return;
    const std::lock_guard lock(mutex_);
    if (own_.ok()) own_ = guarded("", [&] { return status; });
  }

  const Comm& comm_;
  const RoundsCall& call_;
  const Plans& plans_;
  OwnCopy own_copy_;
  std::vector<BlockEncoder> encoders_;  // of each part that goes out
  Side out_, in_;
  MPI_Datatype unit_ = MPI_DATATYPE_NULL;
  size_t encoded_round_ = 0, decoded_round_ = 0;

  std::mutex mutex_;  // of what workers come to
  Status own_;
  Moved sent_, received_;

  Batch encoding_, decoding_;
  std::array<Batch*, 2> batches_ = {&encoding_, &decoding_};
  std::optional<Workers> workers_;
};

// Of what goes out; a rank's own part that is copied counts in no range.
std::vector<ValueLine> lines_of(const Comm& comm, const RoundsCall& call) {
  std::vector<ValueLine> lines;
  const auto own = own_parts(comm, call);
  for (size_t part = 0; part < call.out.size(); ++part) {
    if (!own || own->first != part) lines.push_back({call.out[part].data, call.out[part].count});
  }
  return lines;
}

}  // namespace

Status move_in_rounds(const Comm& comm, const RoundsCall& call, Moved& moved, Reached& reached) {
  NEVE_ASSIGN(const Plans plans, exchange_plans(comm, call));
  std::vector<ValueLine> lines;
  NEVE_TRY(agree(comm, guarded("range", [&]() -> Status {
                   lines = lines_of(comm, call);
                   return {};
                 })));
  NEVE_ASSIGN(const auto whole, measure_together(comm, call.transfer, lines));
  Rounds rounds(comm, call, plans);
  NEVE_TRY(agree(comm, guarded("rounds", [&] { return rounds.prepare(whole); })));
  NEVE_TRY(rounds.run());
  uint64_t sent_values = 0;
  for (const BlockPlan& plan : plans.out) sent_values += plan.count;
  reached.bound = bound_over(call.transfer, whole);
  NEVE_TRY(end_together(comm, rounds.own(), sent_values * dtype_bytes(call.transfer.dtype), rounds.sent(),
                        reached));
  moved.frame_bytes += rounds.sent().frame_bytes + rounds.received().frame_bytes;
  moved.blocks += rounds.sent().blocks + rounds.received().blocks;
  moved.max_abs_error = rounds.sent().max_abs_error;
  return {};
}

}  // namespace neve::mpi
