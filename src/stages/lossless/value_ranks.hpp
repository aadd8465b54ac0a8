// SPDX-License-Identifier: BSD-3-Clause
// Few-valued data as the ranks of the values among those that occur.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "format/bytes.hpp"
#include "neve/status.hpp"

namespace neve {

inline constexpr size_t most_ranks = size_t{1} << 16;

// The distinct words, rising; nothing when there are more than most_ranks, or more than a third of `words`.
// `cyclic`: they are numbers modulo 2^bits and rise from behind their widest gap, which is the order of
// signed ones and of unsigned ones alike where the values lie together.
template <class U>
std::optional<std::vector<U>> distinct_words(std::span<const U> words, bool cyclic);

template <class U>
void write_distinct(std::span<const U> distinct, ByteWriter& out);
// Errors: corrupt.
template <class U>
Result<std::vector<U>> read_distinct(ByteReader& in);

}  // namespace neve
