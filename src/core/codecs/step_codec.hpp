// SPDX-License-Identifier: BSD-3-Clause
// All pieces of a step by one selection, or each by its own choice.
#pragma once

#include <cstddef>
#include <vector>

#include "core/codecs/step.hpp"
#include "neve/frame.hpp"
#include "neve/series.hpp"

namespace neve {

using Frames = std::vector<std::vector<std::byte>>;

struct EncodedStep {
  Frames frames;
  StepReport report;
  uint64_t choosing_ns = 0, coding_ns = 0;  // CPU time; of choosing: within pieces
};

// The selection is of what most pieces took.
Result<EncodedStep> encode_pieces(const Step& step, const ArrayOptions& options);
// A step in one piece that has been encoded.
EncodedStep encoded_whole(const Step& step, std::vector<std::byte> frame, const FrameReport& report);

ArrayOptions with_selection(ArrayOptions options, const Selection& selection);

}  // namespace neve
