// SPDX-License-Identifier: BSD-3-Clause
#include "parallel/transfer/gather.hpp"

#include <array>
#include <cstring>
#include <optional>
#include <string>

#include "parallel/comm/fault.hpp"
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

}  // namespace

Status gather_blocks(const Comm& comm, const GatherCall& call, Moved& moved) {
  const bool is_root = comm.rank() == call.root;
  const size_t value_bytes = dtype_bytes(call.transfer.dtype);
  std::byte* const own_place = is_root && call.recv != nullptr
                                   ? call.recv + call.displs[static_cast<size_t>(call.root)] * value_bytes
                                   : nullptr;
  const void* const values = is_root && call.send == nullptr ? own_place : call.send;
  BlockPlan mine;
  NEVE_ASSIGN(const std::vector<BlockPlan> plans, exchange_plans(comm, call, mine));
  NEVE_ASSIGN(const auto whole, measure_together(comm, call.transfer, mine, values));

  std::optional<BlockEncoder> encoder;  // of the others
  std::vector<Incoming> incoming;       // at root
  NEVE_TRY(agree(comm, guarded("gather", [&]() -> Status {
                   if (!is_root) {
                     encoder.emplace(call.transfer, mine, values, whole, comm.rank());
                     return {};
                   }
                   for (int rank = 0; rank < comm.size(); ++rank) {
                     if (rank == call.root) continue;
                     const auto r = static_cast<size_t>(rank);
                     incoming.push_back({rank, plans[r], call.recv + call.displs[r] * value_bytes});
                   }
                   return {};
                 })));
  const Status done = guarded("gather", [&]() -> Status {
    if (!is_root) return send_blocks(comm.get(), call.root, block_tag, *encoder, moved);
    if (call.send != nullptr && call.count > 0) std::memcpy(own_place, call.send, call.count * value_bytes);
    // A sender that failed says so itself, by its own number.
    NEVE_TRY(receive_blocks(comm.get(), MPI_ANY_SOURCE, block_tag, call.transfer.dtype,
                            call.transfer.values.encode.threads, incoming, moved)
                 .own);
    return injected_fault(Phase::send, comm.rank());
  });
  return agree(comm, done);
}

}  // namespace neve::mpi
