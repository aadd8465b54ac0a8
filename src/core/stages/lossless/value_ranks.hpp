// SPDX-License-Identifier: BSD-3-Clause
// Few-valued data as the ranks of the values among those that occur.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/bits/bytes.hpp"
#include "neve/status.hpp"

namespace neve {

inline constexpr size_t max_ranks = size_t{1} << 16;

// The distinct words, rising; nothing when there are more than `most`.
// `cyclic`: they are numbers modulo 2^bits and rise from behind their widest gap, which is the order of
// signed ones and of unsigned ones alike where the values lie together.
template <class U>
std::optional<std::vector<U>> distinct_words(std::span<const U> words, bool cyclic, size_t most = max_ranks);

template <class U>
void write_distinct(std::span<const U> distinct, ByteWriter& out);
// Of `words` words. Errors: corrupt, also when there are more distinct ones.
template <class U>
Result<std::vector<U>> read_distinct(ByteReader& in, uint64_t words);

}  // namespace neve
