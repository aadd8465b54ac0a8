// SPDX-License-Identifier: BSD-3-Clause
// Chunks of a one-dimensional dataset of boxes as frames. A chunk ends where it ends, in the middle of a box
// or not, so that the dataset keeps its extent and the boxes their offsets: its frame has one component and
// the rectangles that its elements are, and any reader with the filter gets the elements in their order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "io/datafile/box_runs.hpp"
#include "neve/frame.hpp"
#include "neve/status.hpp"

namespace neve::datafile {

struct BoxedPlan {
  BoxRuns runs;
  std::vector<ComponentSpec> specs;  // by component

  bool is_lossy() const;
};

struct BoxedFrame {
  std::vector<std::byte> frame;
  FrameReport report;  // of the frame's one component
  // By component of the dataset, where any has a bound: what this chunk holds of it.
  std::vector<ComponentReport> components;
};

// The chunk that begins at element `first`, of which `held` elements lie inside the dataset. Where components
// of a chunk disagree, the tightest bound holds for all of it, elements between boxes included, and different
// fill values make it exact.
Result<BoxedFrame> encode_boxed_chunk(DType dtype, const BoxedPlan& plan, uint64_t first, uint64_t held,
                                      std::span<const std::byte> values, const EncodeOptions& options);

}  // namespace neve::datafile
