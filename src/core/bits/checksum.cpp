// SPDX-License-Identifier: BSD-3-Clause
#include "core/bits/checksum.hpp"

#define XXH_INLINE_ALL  // no library to link
#include <xxhash.h>

namespace neve {

uint64_t checksum(ByteSpan bytes) { return XXH3_64bits(bytes.data(), bytes.size()); }

bool checksum_matches([[maybe_unused]] ByteSpan bytes, [[maybe_unused]] uint64_t expected) {
#ifdef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION
  return true;
#else
  return checksum(bytes) == expected;
#endif
}

}  // namespace neve
