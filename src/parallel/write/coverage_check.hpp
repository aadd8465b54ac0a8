// SPDX-License-Identifier: BSD-3-Clause
// Which covered cells a file may do without.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "neve/hierarchy.hpp"
#include "neve/plotfile_writer.hpp"
#include "parallel/comm/agree.hpp"
#include "parallel/write/average_exchange.hpp"
#include "parallel/write/encode_chunks.hpp"
#include "parallel/write/plan.hpp"

namespace neve::mpi {

// A field keeps all its covered cells on a level where more than this share of them is missed: hydrodynamics
// codes average down and miss next to none; where many are missed the coarse values are data of their own.
inline constexpr uint64_t max_missed_divisor = 8;

// Settles ComponentSpec::drop_covered and FieldPlan::covered of every level and field of a plan, the same on
// every rank. For Covered::automatic the owners of finer boxes average what a reader will get from them, and
// the owners of the coarse boxes compare those averages with their values.
//
// A codec that predicts from decoded neighbours gives a value that only its frame can tell, so levels are
// settled from the finest to the coarsest, and each is encoded before the next.
class CoverageCheck {
 public:
  // Collective. Settles at once what needs no frames: everything but the fields that may get a predicting
  // codec. All arguments must outlive the check.
  static Result<CoverageCheck> begin(const Comm& comm, const Hierarchy& hierarchy, const LocalValues& owned,
                                     const WriteOptions& options, WritePlan& plan,
                                     const ExchangeLimits& limits = {});
  CoverageCheck(CoverageCheck&&) noexcept;
  CoverageCheck& operator=(CoverageCheck&&) = delete;
  ~CoverageCheck();

  // Whether settle_level(level) wants the frames of level + 1. The same on every rank.
  bool needs_finer_frames(size_t level) const;

  // Collective; from the finest level to the coarsest. `finer_frames`: all of this rank's chunks of level +
  // 1, where they are needed.
  Status settle_level(size_t level, std::span<const EncodedChunk> finer_frames);

  // Complete for the levels that are settled.
  const MissedCells& missed() const;

 private:
  struct State;
  explicit CoverageCheck(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace neve::mpi
