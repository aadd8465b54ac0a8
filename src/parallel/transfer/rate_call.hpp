// SPDX-License-Identifier: BSD-3-Clause
// A collective call whose bound is a ratio.
#pragma once

#include "parallel/transfer/ending.hpp"
#include "parallel/transfer/rate_search.hpp"
#include "parallel/transfer/rate_sites.hpp"
#include "parallel/transfer/send_blocks.hpp"

namespace neve::mpi {

class RateCall {
 public:
  // Collective; the same outcome on all ranks. `sites` are those of the caller's communicator. `values`: this
  // rank's, of `mine.count`; `sends`: it does, and is not one that only receives. `blocks`: what they are
  // sent as, where it is not the blocks of a line.
  static Result<RateCall> begin(const Comm& comm, RateSites& sites, const Transfer& transfer, int root,
                                const BlockPlan& mine, const void* values, bool sends,
                                const SampledBlocks* blocks = nullptr);

  // To be sent under this bound, with this measure of all ranks' values.
  const Transfer& transfer() const { return transfer_; }
  const ArrayMeasure& whole() const { return whole_; }
  // This rank's blocks that are encoded already.
  std::vector<MadeFrame> take_made() { return std::move(made_); }

  // Collective, in the place of the agreement at the end: the ranks agree on `done`, and learn from what was
  // `sent` by this one. After a failure the site begins anew.
  Status end(const Comm& comm, const Status& done, const Moved& sent, Reached& reached);

 private:
  RateCall(RateSites& sites, Transfer transfer) : sites_(&sites), transfer_(std::move(transfer)) {}

  // Collective.
  Status choose(const Comm& comm, const RateSite& site, const RateSource& source);

  RateSites* sites_;
  Transfer transfer_;
  ArrayMeasure whole_;
  RateHistory* history_ = nullptr;  // none where nothing is sent
  std::vector<MadeFrame> made_;
  uint64_t sent_values_ = 0;  // of all ranks
  uint64_t own_bytes_ = 0;    // of values that this rank sends
};

}  // namespace neve::mpi
