// SPDX-License-Identifier: BSD-3-Clause
// From quantization codes as byte symbols to a section's bytes and back, as the codecs with Huffman codes
// share it: zero groups, codebooks, symbol streams.
#pragma once

#include <cstdint>
#include <optional>

#include "core/bits/bytes.hpp"
#include "core/codecs/section_codec.hpp"
#include "core/threads/scratch.hpp"
#include "neve/status.hpp"

namespace neve {

// Takes worthwhile zero groups out of draft.symbols and gives what is left one codebook. Returns the bitmap
// of the groups, to be written where the codec's format has it; nothing when all symbols stay.
std::optional<Bytes> settle_symbols(SectionDraft& draft);

// Several codebooks instead of one where that is smaller and the effort allows it.
void refine_codebooks(SectionDraft& draft, Effort effort);

// The symbols of `ordinary` values, followed by row_padding elements of no meaning. Errors: corrupt.
Result<Symbols> read_symbols(ByteReader& in, const CodebookTable& shared, bool has_zero_groups,
                             uint64_t ordinary);

}  // namespace neve
