// SPDX-License-Identifier: BSD-3-Clause
// XXH3-64 (seed 0) over the header and over each section, so that a part read alone is still checked.
#pragma once

#include <cstdint>

#include "core/bits/bytes.hpp"

namespace neve {

inline constexpr size_t checksum_bytes = 8;

uint64_t checksum(ByteSpan bytes);

// Fuzzing replaces this by "always", or mutated bytes would never get past the checksums.
bool checksum_matches(ByteSpan bytes, uint64_t expected);

}  // namespace neve
