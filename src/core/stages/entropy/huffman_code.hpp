// SPDX-License-Identifier: BSD-3-Clause
// Canonical Huffman codes over the 256 symbols of residuals (stages/entropy/).
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "core/bits/bytes.hpp"
#include "core/kernels/kernels.hpp"
#include "neve/status.hpp"

namespace neve {

// Longest code: a decoding table of 2^12 entries stays in the first-level cache.
inline constexpr int max_code_bits = 12;

using Histogram = std::array<uint32_t, symbol_count>;

// Code lengths in bits, 0 for symbols that do not occur. A complete prefix code, except that a codebook of
// one symbol gives it one bit.
struct Codebook {
  std::array<uint8_t, symbol_count> length{};

  bool operator==(const Codebook&) const = default;
};

Codebook make_codebook(const Histogram& histogram);

// Bits the histogram's symbols take, or UINT64_MAX when one of them has no code.
uint64_t coded_bits(const Codebook& codebook, const Histogram& histogram);

// Codes to be written least significant bit first.
std::array<uint16_t, symbol_count> canonical_codes(const Codebook& codebook);

void write_codebook(const Codebook& codebook, ByteWriter& out);
// Errors: corrupt when the lengths are no prefix code.
Result<Codebook> read_codebook(ByteReader& in);

// Codebooks as write_codebook packs them: a codebook of few symbols takes few bytes.
class CodebookTable {
 public:
  void add(const Codebook& codebook);
  size_t size() const { return begins_.size(); }
  Codebook at(size_t number) const;
  uint64_t memory_bytes() const { return bytes_.capacity() + begins_.capacity() * sizeof(uint32_t); }

 private:
  Bytes bytes_;
  std::vector<uint32_t> begins_;
};

}  // namespace neve
