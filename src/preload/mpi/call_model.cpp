// SPDX-License-Identifier: BSD-3-Clause
#include "preload/mpi/call_model.hpp"

#include <algorithm>
#include <cmath>

namespace neve::pmpi {

CallVolume volume_of(Kind kind, int ranks, double part) {
  const double of_others = part * (ranks - 1);
  switch (kind) {
    case Kind::gather:
    case Kind::allgather:
      return {part, of_others};
    case Kind::alltoall:
      return {of_others, of_others};
    case Kind::scatter:
      return {of_others, part};
    case Kind::bcast:
      break;
  }
  return {part, part};
}

double seconds_as_frames(const CallVolume& volume, const CodecSpeeds& speeds, double mpi_seconds, int threads,
                         double block_bytes) {
  const double blocks = std::max(1.0, std::ceil(std::max(volume.encoded, volume.decoded) / block_bytes));
  const double at_once = std::min<double>(threads, blocks);
  const double encode = volume.encoded * speeds.encode / at_once;
  const double move = mpi_seconds * speeds.share;
  const double decode = volume.decoded * speeds.decode / at_once;
  const double slowest = std::max({encode, move, decode});
  return slowest + (encode + move + decode - slowest) / blocks;
}

}  // namespace neve::pmpi
