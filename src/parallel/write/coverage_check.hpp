// SPDX-License-Identifier: BSD-3-Clause
// Which covered cells a file may do without.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
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

// Covered cells of this rank's boxes, by level. Not collective; of a plan's levels the index counts.
std::vector<uint64_t> count_covered(const Hierarchy& hierarchy, std::span<const LocalBox> owned,
                                    std::span<const LevelPlan> levels);

// Settles ComponentSpec::drop_covered and FieldPlan::covered of every level and field as asked for: of
// anything but Covered::automatic, and of strategy amrex-1d. Not collective, the same on every rank.
void settle_as_asked(const WriteOptions& options, WritePlan& plan);

// Settles the same for Covered::automatic: the owners of finer boxes average what a reader will get from
// them, and the owners of the coarse boxes compare those averages with their values.
//
// A codec that predicts from decoded neighbours gives a value that only its frame can tell, so levels are
// settled from the finest to the coarsest, and each is encoded before the next. All fields of a level are
// settled in one exchange.
class CoverageCheck {
 public:
  // Who sends which averages to whom, by coarse level; null where nothing is covered on any rank.
  using Exchanges = std::vector<std::shared_ptr<const AverageExchange>>;

  // Not collective. `plan`: begun, with its owners and the covered cells of all ranks.
  static Exchanges plan_exchanges(const Comm& comm, const Hierarchy& hierarchy, const WritePlan& plan,
                                  const ExchangeLimits& limits = {});

  // Not collective; of a plan that is begun. All arguments must outlive the check. Before settle_level all
  // ranks must know that all of them have made theirs.
  static Result<CoverageCheck> make(const Comm& comm, const Hierarchy& hierarchy, const LocalValues& owned,
                                    const WriteOptions& options, WritePlan& plan, const Exchanges& exchanges);
  CoverageCheck(CoverageCheck&&) noexcept;
  CoverageCheck& operator=(CoverageCheck&&) = delete;
  ~CoverageCheck();

  // Whether settle_level(level) wants the frames of level + 1. The same on every rank.
  bool needs_finer_frames(size_t level) const;

  // Collective; from the finest level to the coarsest. `finer_frames`: all of this rank's chunks of level +
  // 1, where they are needed, and none where `mine`, what has become of this rank's work since the exchange
  // before, is an error. Afterwards `mine` is of the work since this one.
  Status settle_level(size_t level, std::span<const EncodedChunk> finer_frames, Status& mine);

  // Complete for the levels that are settled.
  const MissedCells& missed() const;

 private:
  struct State;
  explicit CoverageCheck(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

// What is kept of one write for the next one, whose boxes lie and belong as these did.
struct KeptExchanges {
  std::string key;  // of the boxes and of those that are this rank's
  CoverageCheck::Exchanges exchanges;
};

}  // namespace neve::mpi
