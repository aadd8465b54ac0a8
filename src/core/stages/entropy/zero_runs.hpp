// SPDX-License-Identifier: BSD-3-Clause
// Below a bit a value: runs of the symbol of residual 0 become digits of their length, in symbols of their
// own, which Huffman codes beside the others. bzip2 does so in base 2 behind its move-to-front; in base 8 a
// run takes half as many symbols and, coded, the same bits. Digits are 1 to 8 (bijective numeration), so that
// every length is written in one way and none takes more digits than it has zeros.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/kernels/kernels.hpp"
#include "core/stages/entropy/codebook_choice.hpp"
#include "core/threads/scratch.hpp"
#include "neve/status.hpp"

namespace neve {

inline constexpr unsigned run_digit_bits = 3;
// Digit 1 has the symbol of residual 0, digits 2 to 8 have those of residuals -127 to -121, which become
// escapes.
inline constexpr unsigned last_digit_symbol = 7;

struct ZeroRuns {
  Symbols symbols;  // of runs and others
  GroupCounts counts;
  std::vector<int32_t> escapes;  // of these symbols, in order
};

// Nothing where they would save too little.
std::optional<ZeroRuns> worthwhile_zero_runs(std::span<const uint8_t> symbols,
                                             std::span<const int32_t> escapes);

// The inverse: `total` symbols, followed by row_padding elements of no meaning. Errors: corrupt.
Result<Symbols> restore_zero_runs(std::span<const uint8_t> symbols, uint64_t total);

}  // namespace neve
