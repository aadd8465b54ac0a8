// SPDX-License-Identifier: BSD-3-Clause
// Values out of a frame file that lies on disk.
#pragma once

#include "core/codecs/frame_values.hpp"
#include "io/plotfile/file.hpp"
#include "parallel/transfer/send_blocks.hpp"

namespace neve::mpi {

// Not collective. Puts the run's values into `out`; those that no frame holds are 0. While one frame is
// decoded the next is read, on a thread of its own that calls no MPI. `moved` counts what was read.
Status read_frames(const plotfile::File& file, const FrameFileIndex& index, const ValueRun& run,
                   std::byte* out, int threads, Moved& moved);

}  // namespace neve::mpi
