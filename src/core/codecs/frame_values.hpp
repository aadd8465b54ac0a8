// SPDX-License-Identifier: BSD-3-Clause
// Values out of the frames of a line: of a frame file, or as they come from another rank.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/format/frame_file.hpp"
#include "neve/frame.hpp"

namespace neve {

// Decodes a frame that is to hold exactly `values` values of the type. Corrupt when it does not.
Status decode_values(ByteSpan frame, DType dtype, uint64_t values, std::byte* out, int threads = 1);

// Values of a frame file: number `first` and `count` on.
struct ValueRun {
  uint64_t first = 0;
  uint64_t count = 0;
};

// Usage error when the file ends before the run.
Status check_run(const FrameFileIndex& index, const ValueRun& run);

// The entries that hold any of the run, in the index's order: that in which their values are to be put.
std::vector<size_t> entries_of(const FrameFileIndex& index, const ValueRun& run);

// Whether some value of the run is in none of the entries, and so 0.
bool has_holes(const FrameFileIndex& index, const std::vector<size_t>& entries, const ValueRun& run);

// Decodes an entry's frame and puts what it holds of the run into `out`, where the run's first value is.
Status put_values(const FrameFileEntry& entry, ByteSpan frame, DType dtype, const ValueRun& run,
                  std::byte* out, int threads = 1);

}  // namespace neve
