// SPDX-License-Identifier: BSD-3-Clause
// A collective call whose bound is a ratio.
#pragma once

#include "parallel/transfer/rate_search.hpp"
#include "parallel/transfer/rate_sites.hpp"
#include "parallel/transfer/send_blocks.hpp"

namespace neve::mpi {

// What a call came to, the same on all ranks.
struct Reached {
  uint64_t value_bytes = 0;  // of the values that were sent
  uint64_t moved_bytes = 0;  // of their frames
  double bound = 0;          // absolute; 0: lossless
  double max_abs_error = 0;
};

class RateCall {
 public:
  // Collective; the same outcome on all ranks. `sites` are those of the caller's communicator. `values`: this
  // rank's, of `mine.count`; `sends`: it does, and is not one that only receives.
  static Result<RateCall> begin(const Comm& comm, RateSites& sites, const Transfer& transfer, int root,
                                const BlockPlan& mine, const void* values, bool sends);

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
  uint64_t sent_values_ = 0;
};

}  // namespace neve::mpi
