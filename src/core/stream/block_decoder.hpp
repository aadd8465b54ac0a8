// SPDX-License-Identifier: BSD-3-Clause
// Blocks of a stream back into values (docs/format.md, "Stream").
#pragma once

#include <memory>
#include <optional>
#include <span>

#include "core/bits/bytes.hpp"
#include "core/stream/codebook.hpp"
#include "core/stream/stream_format.hpp"
#include "core/stream/symbol_coder.hpp"

namespace neve::stream {

// The parts of a block's payload.
struct Payload {
  std::optional<double> bound_abs;
  double step = 0;
  std::optional<Codebook> codebook;
  ByteSpan codes;
  ByteSpan extra;
  ByteSpan side;
  ByteSpan raw;
};

// A block cut out of the stream.
struct WholeBlock {
  BlockHeader header;
  ByteSpan bytes;  // header and payload
};

// Errors: corrupt.
Result<Payload> read_payload(const WholeBlock& block);

class BlockDecoder {
 public:
  virtual ~BlockDecoder() = default;
  // Either a raw block, or up to decode_side_by_side others, the ones behind the first with kept codebooks.
  // Their headers have been checked, and that there is a codebook and a step; `out` has room for their
  // values. Errors: corrupt.
  virtual Status decode(std::span<const WholeBlock> blocks, std::byte* out) = 0;
};

std::unique_ptr<BlockDecoder> make_decoder(const Header& header);

}  // namespace neve::stream
