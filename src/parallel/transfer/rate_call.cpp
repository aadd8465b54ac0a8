// SPDX-License-Identifier: BSD-3-Clause
#include "parallel/transfer/rate_call.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace neve::mpi {
namespace {

// Any that makes measure_together measure.
Transfer measured(Transfer transfer) {
  transfer.values.bound = Bound{BoundMode::rel, 1};
  return transfer;
}

}  // namespace

Result<RateCall> RateCall::begin(const Comm& comm, RateSites& sites, const Transfer& transfer, int root,
                                 const BlockPlan& mine, const void* values, bool sends,
                                 const SampledBlocks* blocks) {
  NEVE_ASSIGN(const auto whole, measure_together(comm, measured(transfer), mine, values));
  std::array<uint64_t, 2> counts = {mine.count, sends ? mine.count : 0};
  NEVE_TRY(mpi_status(MPI_Allreduce(MPI_IN_PLACE, counts.data(), 2, MPI_UINT64_T, MPI_SUM, comm.get()),
                      "sum of counts"));
  RateCall call(sites, transfer);
  call.transfer_.tells_errors = true;
  call.whole_ = whole.value_or(ArrayMeasure{});
  call.sent_values_ = counts[1];
  call.own_bytes_ = sends ? mine.count * dtype_bytes(transfer.dtype) : 0;
  double bound = 0;
  if (call.sent_values_ > 0) {
    const RateSite site{root, transfer.dtype, transfer.values.bound.value, counts[0]};
    NEVE_TRY(call.choose(comm, site, {transfer, mine, values, call.whole_, counts[1], sends, blocks}));
    bound = call.history_->choice.point.bound;
  }
  call.transfer_ = under_bound(call.transfer_, bound);
  return call;
}

Status RateCall::choose(const Comm& comm, const RateSite& site, const RateSource& source) {
  RateHistory* const known = sites_->find(site, whole_.range);
  const double target_bits = 8 * static_cast<double>(dtype_bytes(site.dtype)) / site.ratio;
  const double aim_bits = known == nullptr ? target_bits : target_bits / known->sent_to_sampled;
  NEVE_ASSIGN(Chosen chosen,
              choose_bound(comm, source, aim_bits, known == nullptr ? nullptr : &known->choice));
  made_ = std::move(chosen.made);
  if (known != nullptr) {
    known->choice = chosen.choice;
    history_ = known;
    return {};
  }
  const Status added = guarded("choice of a bound", [&]() -> Status {
    history_ = sites_->add(site, {chosen.choice, 1, whole_.range});
    return {};
  });
  const Status agreed = agree(comm, added);
  // On all ranks or on none: a rank that searches alone would wait for the others.
  if (!agreed.ok() && history_ != nullptr) sites_->drop(history_);
  return agreed;
}

Status RateCall::end(const Comm& comm, const Status& done, const Moved& sent, Reached& reached) {
  if (const Status agreed = end_together(comm, done, own_bytes_, sent, reached); !agreed.ok()) {
    if (history_ != nullptr) sites_->drop(history_);
    return agreed;
  }
  if (history_ == nullptr) return {};
  const RatePoint& sampled = history_->choice.point;
  reached.bound = sampled.bound;
  history_->range = whole_.range;
  history_->sent_to_sampled =
      8 * static_cast<double>(reached.moved_bytes) / static_cast<double>(sent_values_) / sampled.bits;
  return {};
}

}  // namespace neve::mpi
