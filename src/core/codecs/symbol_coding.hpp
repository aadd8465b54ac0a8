// SPDX-License-Identifier: BSD-3-Clause
// From quantization codes as byte symbols to a section's bytes and back, as the codecs with Huffman codes
// share it: zero runs or groups, codebooks, symbol streams.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/bits/bytes.hpp"
#include "core/codecs/section_codec.hpp"
#include "core/threads/scratch.hpp"
#include "neve/status.hpp"

namespace neve {

// What stands for symbols of residual 0, by a section's flags. Groups are read, and no longer written: runs
// take less.
enum class Zeros : uint8_t { coded = 0, groups = 1, runs = 2 };  // as sections of interpolation have them

// The flags that say it in sections of dual_quant and lorenzo_regression. Nothing: both are set.
inline constexpr uint8_t zero_groups_flag = 0x20, zero_runs_flag = 0x80;
std::optional<Zeros> zeros_of(uint8_t flags);

// Replaces symbols of residual 0 in draft.symbols by runs where that is worthwhile, and gives what is left
// one codebook. `escapes` are those of the symbols, in order, and become those of what is left. True: there
// are runs; the codec writes how many symbols are left where its format has it.
bool settle_symbols(SectionDraft& draft, std::vector<int32_t>& escapes);

// Several codebooks instead of one where that is smaller; at effort fast by groups of symbols.
void refine_codebooks(SectionDraft& draft, Effort effort);

// The symbols of `ordinary` values, followed by row_padding elements of no meaning. Errors: corrupt.
Result<Symbols> read_symbols(ByteReader& in, const CodebookTable& shared, Zeros zeros, uint64_t ordinary);

}  // namespace neve
