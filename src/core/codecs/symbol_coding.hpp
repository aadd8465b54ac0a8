// SPDX-License-Identifier: BSD-3-Clause
// From quantization codes as byte symbols to a section's bytes and back, as the codecs with Huffman codes
// share it: zero runs or groups, codebooks, symbol streams.
#pragma once

#include <cstdint>
#include <vector>

#include "core/bits/bytes.hpp"
#include "core/codecs/section_codec.hpp"
#include "core/threads/scratch.hpp"
#include "neve/status.hpp"

namespace neve {

// What stands for symbols of residual 0, by a section's flags. Groups are read, and no longer written: runs
// take less.
enum class Zeros : uint8_t { coded, groups, runs };

// Replaces symbols of residual 0 in draft.symbols by runs where that is worthwhile, and gives what is left
// one codebook. `escapes` are those of the symbols, in order, and become those of what is left. True: there
// are runs; the codec writes how many symbols are left where its format has it.
bool settle_symbols(SectionDraft& draft, std::vector<int32_t>& escapes);

// Several codebooks instead of one where that is smaller and the effort allows it.
void refine_codebooks(SectionDraft& draft, Effort effort);

// The symbols of `ordinary` values, followed by row_padding elements of no meaning. Errors: corrupt.
Result<Symbols> read_symbols(ByteReader& in, const CodebookTable& shared, Zeros zeros, uint64_t ordinary);

}  // namespace neve
