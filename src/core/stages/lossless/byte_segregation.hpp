// SPDX-License-Identifier: BSD-3-Clause
// ACOMPS' preprocessing (Singhal and Sussman, "Adaptive compression to improve I/O performance for climate
// simulations", DRBSD-2, 2017): the bytes of a value's positions that are skewed, and so compressible, are
// parted from those that are noise, which stay as they are.
#pragma once

#include <cstdint>
#include <span>

#include "core/bits/bytes.hpp"
#include "core/stages/lossless/byte_coder.hpp"
#include "neve/status.hpp"

namespace neve {

enum class Segregation : uint8_t {
  bytes,      // B: compressible bytes of a value together, value after value
  byte_wise,  // BW: grouped by position in the value; BWXOR is the same of words that were XORed before
};

// Errors: what write_coded has.
Status write_segregated(Segregation segregation, ByteCoder coder, ByteSpan words, size_t word_bytes,
                        ByteWriter& out);
// Fills `words`. Errors: corrupt; failure when the coder is not there.
Status read_segregated(Segregation segregation, ByteCoder coder, ByteReader& in, size_t word_bytes,
                       std::span<std::byte> words);

}  // namespace neve
