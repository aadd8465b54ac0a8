// SPDX-License-Identifier: BSD-3-Clause
// The lowest bits of residuals, which no code would make smaller: so many of each, one after another, least
// significant first.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "core/bits/bytes.hpp"

namespace neve {

class LowBitWriter {
 public:
  // `shift` bits, 0 to 24, of each of `residuals` in all.
  LowBitWriter(int shift, uint64_t residuals);

  void add(std::span<const int32_t> residuals);
  // All bytes, once.
  Bytes take();

 private:
  unsigned shift_;
  Bytes bytes_;
  size_t at_ = 0;      // whole bytes
  uint64_t bits_ = 0;  // behind those
  unsigned held_ = 0;  // below 8 between calls
};

// Puts the low bits of the residuals from number `first` on back; they were 0.
void restore_low_bits(ByteSpan bytes, uint64_t first, int shift, std::span<int32_t> residuals);

}  // namespace neve
