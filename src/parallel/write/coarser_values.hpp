// SPDX-License-Identifier: BSD-3-Clause
// What the next coarser level holds around this rank's chunks of a level, as a reader will get it.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "neve/frame.hpp"
#include "neve/hierarchy.hpp"
#include "neve/plotfile_writer.hpp"
#include "parallel/comm/agree.hpp"
#include "parallel/write/encode_chunks.hpp"
#include "parallel/write/plan.hpp"

namespace neve::mpi {

class CoarserValues {
 public:
  // Collective. Ranks ask the owners of coarser boxes for the decoded values that the regions of their own
  // chunks of `level` reach, in `components`. `coarser_frames`: all of this rank's chunks of level - 1;
  // `around_coarser`: these values for level - 1, which its frames may need; null: none does. All arguments
  // but the frames must outlive the values.
  static Result<CoarserValues> exchange(const Comm& comm, const Hierarchy& hierarchy,
                                        const LocalValues& owned, const WritePlan& plan, size_t level,
                                        const std::vector<int>& components,
                                        std::span<const EncodedChunk> coarser_frames,
                                        const CoarserValues* around_coarser, int threads);
  CoarserValues(CoarserValues&&) noexcept;
  CoarserValues& operator=(CoarserValues&&) noexcept;
  ~CoarserValues();

  // Those around one chunk of this rank. The values must outlive it.
  std::unique_ptr<CoarserLevel> around(size_t chunk) const;
  // Finer cells that a coarser one has.
  Extents ratio() const;

 private:
  struct State;
  explicit CoarserValues(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace neve::mpi
