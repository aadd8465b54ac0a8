// SPDX-License-Identifier: BSD-3-Clause
// What a frame will decode to, told while it is encoded: a codec that predicts from decoded neighbours has
// those values in memory, and to decode them again would take about half of what encoding took.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "neve/frame.hpp"

namespace neve {

// One component of a box of the frame.
struct RestoredBox {
  int component = 0;
  uint32_t box = 0;
  // Of the frame's type, x fastest, without gaps, of `held`, in whose place the box lies in the level's index
  // space. Cells of `held` that no box has, and left-out cells, have values of no meaning. Valid during the
  // call.
  const std::byte* values = nullptr;
  Rect held;
};
using RestoredSink = std::function<void(const RestoredBox&)>;

// encode_frame, which also calls `sink` for boxes and components whose decoded values are at hand: from
// several threads at a time, at most once for each. Nobody is promised any call; there are none but at effort
// fast.
Result<std::vector<std::byte>> encode_frame_telling(DType dtype, const FrameLayout& layout,
                                                    Span<const ComponentSpec> specs,
                                                    Span<const BoxData> boxes, const EncodeOptions& options,
                                                    FrameReport* report, const Nesting* nesting,
                                                    const RestoredSink& sink);

}  // namespace neve
