// SPDX-License-Identifier: BSD-3-Clause
#include "core/stages/entropy/low_bits.hpp"

#include <algorithm>
#include <cstring>

#include "core/stages/entropy/bit_io.hpp"

namespace neve {

namespace {

// Residuals that are taken together: with 7 bits that are left over their bits fit a word.
constexpr unsigned word_bits = 64;
constexpr unsigned together(unsigned shift) { return shift < 8 ? 8 : 2; }

}  // namespace

LowBitWriter::LowBitWriter(int shift, uint64_t residuals)
    : shift_(static_cast<unsigned>(shift)),
      bytes_(shift == 0 ? 0 : residuals * shift_ / 8 + word_bits / 8 + 1) {}

void LowBitWriter::add(std::span<const int32_t> residuals) {
  if (shift_ == 0) return;
  const uint64_t mask = (uint64_t{1} << shift_) - 1;
  const size_t group = together(shift_);
  for (size_t i = 0; i < residuals.size(); i += group) {
    const size_t count = std::min(group, residuals.size() - i);
    uint64_t word = 0;
    for (unsigned k = 0; k < count; ++k)
      word |= (static_cast<uint32_t>(residuals[i + k]) & mask) << (k * shift_);
    bits_ |= word << held_;
    held_ += static_cast<unsigned>(count) * shift_;
    std::memcpy(bytes_.data() + at_, &bits_, sizeof bits_);
    at_ += held_ / 8;
    bits_ >>= held_ / 8 * 8;
    held_ %= 8;
  }
}

Bytes LowBitWriter::take() {
  bytes_.resize(at_ + (held_ > 0 ? 1 : 0));
  return std::move(bytes_);
}

void restore_low_bits(ByteSpan bytes, uint64_t first, int shift, std::span<int32_t> residuals) {
  const auto width = static_cast<unsigned>(shift);
  const uint64_t mask = (uint64_t{1} << width) - 1;
  const size_t group = together(width);
  uint64_t bit = first * width;
  for (size_t i = 0; i < residuals.size(); i += group) {
    const size_t count = std::min(group, residuals.size() - i);
    const uint64_t word = bits_from(bytes, bit);
    for (unsigned k = 0; k < count; ++k)
      residuals[i + k] |= static_cast<int32_t>((word >> (k * width)) & mask);
    bit += count * width;
  }
}

}  // namespace neve
