// SPDX-License-Identifier: BSD-3-Clause
// Plain bit fields, least significant bit first, for the raw bits beside coded symbols.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "core/bits/bytes.hpp"

namespace neve {

// Appends to `out`, which holds more than that until finish().
class BitWriter {
 public:
  explicit BitWriter(Bytes& out) : out_(out), at_(out.size()) {}

  // The low `count` bits of value; count is 0..64.
  void put(uint64_t value, unsigned count) {
    if (count > 32) {
      put_few(value & 0xffffffff, 32);
      value >>= 32;
      count -= 32;
    }
    put_few(value, count);
  }
  void finish() {
    out_.resize(at_);
    if (held_ > 0) out_.push_back(static_cast<std::byte>(bits_));
    bits_ = 0;
    held_ = 0;
    at_ = out_.size();
  }

 private:
  // At most 32: with the 7 that may be held already they fit.
  void put_few(uint64_t value, unsigned count) {
    bits_ |= (value & ((uint64_t{1} << count) - 1)) << held_;
    held_ += count;
    if (out_.size() < at_ + sizeof bits_) out_.resize(std::max(2 * out_.size(), at_ + min_room));
    std::memcpy(out_.data() + at_, &bits_, sizeof bits_);
    at_ += held_ / 8;
    bits_ >>= held_ / 8 * 8;
    held_ %= 8;
  }

  static constexpr size_t min_room = 256;

  Bytes& out_;
  size_t at_;  // where the bits held will go
  uint64_t bits_ = 0;
  unsigned held_ = 0;  // below 8 between calls
};

// At least 57 bits from number `bit` on; zeros past the end.
inline uint64_t bits_from(ByteSpan bytes, uint64_t bit) {
  const uint64_t byte = bit / 8;
  uint64_t word = 0;
  if (byte + sizeof word <= bytes.size()) {
    std::memcpy(&word, bytes.data() + byte, sizeof word);
  } else if (byte < bytes.size()) {
    std::memcpy(&word, bytes.data() + byte, bytes.size() - byte);
  }
  return word >> bit % 8;
}

// Past the end it gives zeros.
class BitReader {
 public:
  explicit BitReader(ByteSpan bytes) : bytes_(bytes) {}

  // count is 0..64.
  uint64_t get(unsigned count) {
    if (count <= 32) return get_few(count);
    const uint64_t low = get_few(32);
    return low | get_few(count - 32) << 32;
  }
  // Whether all bytes were needed, and no more.
  bool is_at_end() const { return (at_ + 7) / 8 == bytes_.size(); }

 private:
  uint64_t get_few(unsigned count) {
    const uint64_t word = bits_from(bytes_, at_);
    at_ += count;
    return word & ((uint64_t{1} << count) - 1);
  }

  ByteSpan bytes_;
  uint64_t at_ = 0;  // in bits
};

}  // namespace neve
