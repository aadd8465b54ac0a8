// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>

namespace neve::trace {

// FNV-1a (Fowler, Noll, Vo), 64 bits.
inline uint64_t hash_of(const char* text, size_t length) {
  uint64_t hash = 14695981039346656037ULL;
  for (size_t i = 0; i < length; ++i) hash = (hash ^ static_cast<unsigned char>(text[i])) * 1099511628211ULL;
  return hash;
}

}  // namespace neve::trace
