// SPDX-License-Identifier: BSD-3-Clause
// Whether frames would be faster than MPI's own call, of what has been measured.
#pragma once

#include "preload/mpi/kind.hpp"

namespace neve::pmpi {

// Of one thread: seconds for a byte of values, and bytes of a frame for each.
struct CodecSpeeds {
  double encode = 0, decode = 0, share = 0;
};

// Of values that nobody has seen: a fast codec, and a ratio of smooth fields.
inline constexpr CodecSpeeds typical_speeds = {1e-9, 0.5e-9, 0.1};

// What is measured is not exact: frames have to take less than this share of MPI's time.
inline constexpr double clear_win = 0.9;

// Values that a call moves, in bytes: that the busiest rank encodes, and that it decodes.
struct CallVolume {
  double encoded = 0, decoded = 0;
};
// `part`: what one rank sends to one other.
CallVolume volume_of(Kind kind, int ranks, double part);

// Of a call that takes MPI so many seconds: blocks are encoded, moved and decoded side by side.
double seconds_as_frames(const CallVolume& volume, const CodecSpeeds& speeds, double mpi_seconds, int threads,
                         double block_bytes);

}  // namespace neve::pmpi
