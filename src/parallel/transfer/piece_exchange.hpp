// SPDX-License-Identifier: BSD-3-Clause
// Lists of pieces between ranks, as the index has them.
#pragma once

#include <cstdint>
#include <vector>

#include "core/format/frame_file.hpp"
#include "parallel/comm/agree.hpp"

namespace neve::mpi {

// Collective: behind the `known` pieces that all ranks have, the others get those of rank 0.
Status broadcast_pieces(const Comm& comm, std::vector<FramePiece>& pieces, uint64_t known);

// A piece that was written, in the order of the collective calls.
struct WrittenPiece {
  uint64_t order = 0;
  FramePiece piece;
};

// Collective: rank 0 appends what all ranks have written, in the order of the calls and within a call of the
// ranks, to `pieces`.
Status gather_pieces(const Comm& comm, const std::vector<WrittenPiece>& mine,
                     std::vector<FramePiece>& pieces);

}  // namespace neve::mpi
