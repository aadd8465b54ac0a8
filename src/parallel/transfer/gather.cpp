// SPDX-License-Identifier: BSD-3-Clause
#include "parallel/transfer/gather.hpp"

#include <array>
#include <optional>
#include <string>

#include "parallel/comm/fault.hpp"
#include "parallel/transfer/own_copy.hpp"
#include "parallel/transfer/receive_blocks.hpp"

namespace neve::mpi {
namespace {

constexpr int block_tag = 0;  // the communicator is Neve's own

// Root learns how each rank cuts its values, `mine`. On the other ranks the list stays empty.
Result<std::vector<BlockPlan>> exchange_plans(const Comm& comm, const GatherCall& call, BlockPlan& mine) {
  const bool is_root = comm.rank() == call.root;
  std::vector<uint64_t> all;
  std::vector<BlockPlan> plans;
  const Status prepared = guarded("gather", [&]() -> Status {
    NEVE_ASSIGN(mine, plan_blocks(call.count, dtype_bytes(call.transfer.dtype), call.transfer.block_bytes,
                                  call.transfer.layer_shape));
    NEVE_TRY(injected_fault(Phase::plan, comm.rank()));
    NEVE_TRY(injected_fault(Phase::range, comm.rank()));
    if (!is_root) return {};
    all.resize(2 * static_cast<size_t>(comm.size()));
    plans.resize(static_cast<size_t>(comm.size()));
    return {};
  });
  NEVE_TRY(agree(comm, prepared));
  const std::array<uint64_t, 2> numbers = {mine.count, mine.block_values};
  NEVE_TRY(mpi_status(
      MPI_Gather(numbers.data(), 2, MPI_UINT64_T, all.data(), 2, MPI_UINT64_T, call.root, comm.get()),
      "exchange of counts"));
  NEVE_TRY(agree(comm, guarded("gather", [&]() -> Status {
                   for (size_t rank = 0; rank < plans.size(); ++rank) {
                     plans[rank] = {all[2 * rank], all[2 * rank + 1]};
                     if (plans[rank].count == call.counts[rank]) continue;
                     return usage_error("rank " + std::to_string(rank) + " sends " +
                                        std::to_string(plans[rank].count) + " values, and root expects " +
                                        std::to_string(call.counts[rank]));
                   }
                   return {};
                 })));
  return plans;
}

// Where root finds its own values, and puts them.
std::byte* own_place(const Comm& comm, const GatherCall& call) {
  if (comm.rank() != call.root || call.recv == nullptr) return nullptr;
  return call.recv + call.displs[static_cast<size_t>(call.root)] * dtype_bytes(call.transfer.dtype);
}

// What moves: `transfer` has a bound that needs no search.
struct Parts {
  const Transfer& transfer;
  const std::vector<BlockPlan>& plans;  // on root
  const BlockPlan& mine;
  const void* values;
  std::optional<ArrayMeasure> whole;
};
struct Move {
  std::optional<BlockEncoder> encoder;  // of the others
  std::vector<Incoming> incoming;       // at root
};

// Collective.
Status prepare(const Comm& comm, const GatherCall& call, const Parts& parts, Move& move) {
  return agree(comm, guarded("gather", [&]() -> Status {
                 if (comm.rank() != call.root) {
                   move.encoder.emplace(parts.transfer, parts.mine, parts.values, parts.whole, comm.rank());
                   return {};
                 }
                 const size_t value_bytes = dtype_bytes(call.transfer.dtype);
                 for (int rank = 0; rank < comm.size(); ++rank) {
                   if (rank == call.root) continue;
                   const auto r = static_cast<size_t>(rank);
                   move.incoming.push_back({rank, parts.plans[r], call.recv + call.displs[r] * value_bytes});
                 }
                 return {};
               }));
}

// What this rank's part in it came to: the ranks have still to agree on it.
Status run(const Comm& comm, const GatherCall& call, const Move& move, Moved& moved) {
  return guarded("gather", [&]() -> Status {
    if (comm.rank() != call.root) return send_blocks(comm.get(), call.root, block_tag, *move.encoder, moved);
    OwnCopy own(call.send, own_place(comm, call),
                call.send == nullptr ? 0 : call.count * dtype_bytes(call.transfer.dtype));
    // A sender that failed says so itself, by its own number.
    NEVE_TRY(receive_blocks(comm.get(), MPI_ANY_SOURCE, block_tag, call.transfer.dtype,
                            call.transfer.values.encode.threads, move.incoming, moved,
                            [&] { return own.copy_some(); })
                 .own);
    return injected_fault(Phase::send, comm.rank());
  });
}

}  // namespace

Status gather_blocks(const Comm& comm, const GatherCall& call, Moved& moved, Reached& reached) {
  const bool is_root = comm.rank() == call.root;
  const void* const values = is_root && call.send == nullptr ? own_place(comm, call) : call.send;
  BlockPlan mine;
  NEVE_ASSIGN(const std::vector<BlockPlan> plans, exchange_plans(comm, call, mine));
  Move move;
  if (call.transfer.values.bound.mode != BoundMode::ratio) {
    NEVE_ASSIGN(const auto whole, measure_together(comm, call.transfer, mine, values));
    NEVE_TRY(prepare(comm, call, {call.transfer, plans, mine, values, whole}, move));
    const Status done = run(comm, call, move, moved);
    const uint64_t value_bytes = is_root ? 0 : call.count * dtype_bytes(call.transfer.dtype);
    reached.bound = bound_over(call.transfer, whole);
    return end_together(comm, done, value_bytes, is_root ? Moved() : moved, reached);
  }
  NEVE_ASSIGN(RateCall rate,
              RateCall::begin(comm, *call.sites, call.transfer, call.root, mine, values, !is_root));
  NEVE_TRY(prepare(comm, call, {rate.transfer(), plans, mine, values, rate.whole()}, move));
  if (move.encoder) move.encoder->keep(rate.take_made());
  const Status done = run(comm, call, move, moved);
  return rate.end(comm, done, is_root ? Moved() : moved, reached);
}

}  // namespace neve::mpi
