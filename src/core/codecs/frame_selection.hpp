// SPDX-License-Identifier: BSD-3-Clause
// What a frame was made by, from its header and the first bytes of its sections.
#pragma once

#include "neve/choice.hpp"
#include "neve/frame.hpp"
#include "neve/span.hpp"
#include "neve/status.hpp"

namespace neve {

// Codec and arrangement of most of its cells, and of codec lossless the method. Nothing is decoded, no
// section's checksum compared. `bytes`: the whole frame, of which `description` is what describe_frame says.
// Errors: corrupt.
Result<Selection> frame_selection(Span<const std::byte> bytes, const FrameDescription& description);

}  // namespace neve
