// SPDX-License-Identifier: BSD-3-Clause
// What the calls of a communicator that asked for a ratio have learned, by call site.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <list>
#include <memory>

#include "neve/types.hpp"
#include "parallel/transfer/rate_history.hpp"

namespace neve::mpi {

// Calls that are one site; the numbers are the same on all ranks.
struct RateSite {
  int root = 0;
  DType dtype = DType::f32;
  double ratio = 0;
  uint64_t values = 0;  // of all ranks

  bool operator==(const RateSite&) const = default;
};

// Fields that take turns at one site are told apart by their ranges. All ranks do the same with it in the
// same order, so that it holds the same on all of them.
class RateSites {
 public:
  // Not collective. Those that are kept with `comm`, the caller's own, until it is freed and nobody has them.
  static Result<std::shared_ptr<RateSites>> shared_with(MPI_Comm comm);
  // Those that are kept with `comm`, the caller's own, until it is freed.
  static Result<RateSites*> of(MPI_Comm comm);

  // The history of values in such a range; null: none.
  RateHistory* find(const RateSite& site, const ValueRange& range);
  // In the place of the one that was asked for least lately, where there are many.
  RateHistory* add(const RateSite& site, const RateHistory& history);
  void drop(const RateHistory* history);

 private:
  struct Entry {
    RateSite site;
    RateHistory history;
  };
  std::list<Entry> entries_;  // the one used last comes first
};

}  // namespace neve::mpi
