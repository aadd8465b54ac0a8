// SPDX-License-Identifier: BSD-3-Clause
// A frame file, as neve/transfer.h writes it, without MPI.
#pragma once

#include <string>

#include "core/format/frame_file.hpp"
#include "io/plotfile/npy.hpp"
#include "neve/frame.hpp"

namespace neve::cli {

// By its first bytes.
Result<bool> is_frame_file_at(const std::string& path);

struct FrameFileContents {
  FrameFileIndex index;
  uint64_t file_bytes = 0;
  uint64_t frame_bytes = 0;
  // Of all frames: the largest error measured, and the bound that the first was made with.
  double max_abs_error = 0;
  Bound bound;
  double bound_abs = 0;  // the largest
};
Result<FrameFileContents> describe_frame_file_at(const std::string& path);

// All its values as an array of one dimension.
Result<plotfile::NpyArray> read_frame_file(const std::string& path, int threads);

}  // namespace neve::cli
