// SPDX-License-Identifier: BSD-3-Clause
// Values out of frames as they come from another rank, and out of the pieces of a frame file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "core/format/frame_file.hpp"
#include "neve/frame.hpp"

namespace neve {

// Decodes a frame that is to hold exactly `values` values of the type. Corrupt when it does not.
// `out` may be at any address.
Status decode_values(ByteSpan frame, DType dtype, uint64_t values, std::byte* out, int threads = 1);

// What is stored for bytes that are no frame.
Bytes pack_raw(ByteSpan bytes);

// Decodes a piece and puts what it holds of `asked`, boxes in file order, into `out`, where their bytes are
// to lie packed. `stored`: the piece's bytes in the frame file; none for zeros. Errors: corrupt.
Status put_piece(const FramePiece& piece, ByteSpan stored, std::span<const FileBox> asked, std::byte* out,
                 int threads = 1);

}  // namespace neve
