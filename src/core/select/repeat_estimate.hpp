// SPDX-License-Identifier: BSD-3-Clause
// How many words of a section stand in it a second time, from samples of runs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "core/sections/lossless_cells.hpp"

namespace neve {

// What slices would not show: the share of words that stand a second time in the section, all but their loose
// bits (stages/lossless/word_repeats.hpp), and how many of those bits differ.
struct RepeatEstimate {
  double share = 0;
  double residual_bits = 0;
};

template <class T>
RepeatEstimate estimate_repeats(const LosslessCells<T>& cells);

// The same from blocks of so many values each (at most 256), one after another, of which the section has
// `blocks_between` times as many. `is_special` says 1 of each value that no repeat may hold.
template <class T>
RepeatEstimate estimate_repeats(std::span<const T> blocks, std::span<const uint8_t> is_special,
                                size_t block_cells, size_t blocks_between);

}  // namespace neve
