// SPDX-License-Identifier: BSD-3-Clause
// Entropy coding of folded differences of any size: the bit length and the two bits below the top one are a
// symbol, coded by Huffman with a codebook chosen by the lengths of the two neighbours before (left and
// above); the bits below stay raw. Golomb's idea of splitting what is predictable from what is noise, with
// the split point adapted to the data.
#pragma once

#include <cstdint>
#include <span>

#include "core/bits/bytes.hpp"
#include "core/sections/tiling.hpp"
#include "neve/status.hpp"

namespace neve {

// A dense rectangle of residuals. Excluded cells (1) are not coded; null: none.
template <class U>
struct ResidualGrid {
  Extents size{1, 1, 1, 1};
  U* residuals = nullptr;
  const uint8_t* excluded = nullptr;

  int64_t cells() const { return size[0] * size[1] * size[2] * size[3]; }
};

template <class U>
void encode_residuals(std::span<const ResidualGrid<U>> grids, ByteWriter& out);

// Fills the grids' residuals; excluded ones become 0. Errors: corrupt.
template <class U>
Status decode_residuals(ByteReader& in, std::span<const ResidualGrid<U>> grids);

}  // namespace neve
