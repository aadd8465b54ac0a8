// SPDX-License-Identifier: BSD-3-Clause
#include "parallel/transfer/rate_call.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <utility>

#include "parallel/comm/patient_wait.hpp"

namespace neve::mpi {
namespace {

// What ends a call: one reduction of all of it, each number in its own way.
struct Ending {
  uint64_t agreement = 0;  // the least
  uint64_t bytes = 0;      // the sum
  uint64_t error = 0;      // the largest; bits of a double that is not negative
};
constexpr int ending_words = sizeof(Ending) / sizeof(uint64_t);

extern "C" void neve_merge_endings(void* from, void* into, int* count, MPI_Datatype*) {
  const auto* const theirs = static_cast<const Ending*>(from);
  auto* const ours = static_cast<Ending*>(into);
  for (int i = 0; i < *count; ++i) {
    // As agree() compares: signed.
    ours[i].agreement = static_cast<uint64_t>(
        std::min(static_cast<int64_t>(ours[i].agreement), static_cast<int64_t>(theirs[i].agreement)));
    ours[i].bytes += theirs[i].bytes;
    ours[i].error = std::max(ours[i].error, theirs[i].error);
  }
}

// Collective.
Status merge_endings(const Comm& comm, Ending& ending) {
  const Ending own = ending;
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Op op = MPI_OP_NULL;
  NEVE_TRY(mpi_status(MPI_Type_contiguous(ending_words, MPI_UINT64_T, &type), "MPI_Type_contiguous"));
  NEVE_TRY(mpi_status(MPI_Type_commit(&type), "MPI_Type_commit"));
  NEVE_TRY(mpi_status(MPI_Op_create(neve_merge_endings, 1, &op), "MPI_Op_create"));
  const Status merged = allreduce_patiently(&own, &ending, 1, type, op, comm.get(), "agreement of the ranks");
  MPI_Op_free(&op);
  MPI_Type_free(&type);
  return merged;
}

// Any that makes measure_together measure.
Transfer measured(Transfer transfer) {
  transfer.values.bound = Bound{BoundMode::rel, 1};
  return transfer;
}

}  // namespace

Result<RateCall> RateCall::begin(const Comm& comm, RateSites& sites, const Transfer& transfer, int root,
                                 const BlockPlan& mine, const void* values, bool sends) {
  NEVE_ASSIGN(const auto whole, measure_together(comm, measured(transfer), mine, values));
  std::array<uint64_t, 2> counts = {mine.count, sends ? mine.count : 0};
  NEVE_TRY(mpi_status(MPI_Allreduce(MPI_IN_PLACE, counts.data(), 2, MPI_UINT64_T, MPI_SUM, comm.get()),
                      "sum of counts"));
  RateCall call(sites, transfer);
  call.transfer_.tells_errors = true;
  call.whole_ = whole.value_or(ArrayMeasure{});
  call.sent_values_ = counts[1];
  double bound = 0;
  if (call.sent_values_ > 0) {
    const RateSite site{root, transfer.dtype, transfer.values.bound.value, counts[0]};
    NEVE_TRY(call.choose(comm, site, {transfer, mine, values, call.whole_, counts[1], sends}));
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
  Ending ending{agreement_key(comm, done), sent.frame_bytes, std::bit_cast<uint64_t>(sent.max_abs_error)};
  const Status merged = merge_endings(comm, ending);
  const Status agreed = !merged.ok()                  ? merged
                        : all_agree(ending.agreement) ? Status()
                                                      : lowest_failure(comm, ending.agreement, done);
  if (!agreed.ok()) {
    if (history_ != nullptr) sites_->drop(history_);
    return agreed;
  }
  const uint64_t value_bytes = sent_values_ * dtype_bytes(transfer_.dtype);
  reached = {value_bytes, ending.bytes, 0, std::bit_cast<double>(ending.error)};
  if (history_ == nullptr) return {};
  const RatePoint& sampled = history_->choice.point;
  reached.bound = sampled.bound;
  history_->range = whole_.range;
  history_->sent_to_sampled =
      8 * static_cast<double>(ending.bytes) / static_cast<double>(sent_values_) / sampled.bits;
  return {};
}

}  // namespace neve::mpi
