// SPDX-License-Identifier: BSD-3-Clause
// Plain bit fields, least significant bit first, for the raw bits beside coded symbols.
#pragma once

#include <cstdint>

#include "format/bytes.hpp"

namespace neve {

class BitWriter {
 public:
  explicit BitWriter(Bytes& out) : out_(out) {}

  // The low `count` bits of value; count is 0..32.
  void put(uint32_t value, unsigned count) {
    bits_ |= (uint64_t{value} & ((uint64_t{1} << count) - 1)) << held_;
    held_ += count;
    while (held_ >= 8) {
      out_.push_back(static_cast<std::byte>(bits_));
      bits_ >>= 8;
      held_ -= 8;
    }
  }
  void finish() {
    if (held_ > 0) out_.push_back(static_cast<std::byte>(bits_));
    bits_ = 0;
    held_ = 0;
  }

 private:
  Bytes& out_;
  uint64_t bits_ = 0;
  unsigned held_ = 0;
};

// Past the end it gives zeros; the caller has checked the size.
class BitReader {
 public:
  explicit BitReader(ByteSpan bytes) : bytes_(bytes) {}

  uint32_t get(unsigned count) {
    while (held_ < count) {
      const uint64_t byte = at_ < bytes_.size() ? static_cast<uint64_t>(bytes_[at_++]) : 0;
      bits_ |= byte << held_;
      held_ += 8;
    }
    const auto value = static_cast<uint32_t>(bits_ & ((uint64_t{1} << count) - 1));
    bits_ >>= count;
    held_ -= count;
    return value;
  }

 private:
  ByteSpan bytes_;
  size_t at_ = 0;
  uint64_t bits_ = 0;
  unsigned held_ = 0;
};

}  // namespace neve
